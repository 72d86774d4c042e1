import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { createSecret } from '../../../adapters/aws/secret.ts';
import { createStoredSigner } from '../../../adapters/aws/stored-signer.ts';
import type { CallerStore } from '../../../core/ports/caller-store.ts';

const client = new SecretsManagerClient({ region: 'eu-west-1' });
const manager = mockClient(client);
const clock = { now: new Date('2026-11-21T10:00:00.000Z') };
const secretOf = () => createSecret({ client, arn: 'arn:secret', now: () => clock.now });
const advance = (seconds: number) => {
  clock.now = new Date(clock.now.getTime() + seconds * 1000);
};
const current = { VersionStage: 'AWSCURRENT' };
const previous = { VersionStage: 'AWSPREVIOUS' };
const readings = () => manager.commandCalls(GetSecretValueCommand).length;

beforeEach(() => {
  manager.reset();
  manager.on(GetSecretValueCommand, current).resolves({ SecretString: 'new' });
  manager
    .on(GetSecretValueCommand, previous)
    .rejects(new ResourceNotFoundException({ message: '', $metadata: {} }));
});

test('a secret is read once, by however many ask, and again after five minutes', async () => {
  const secret = secretOf();

  await Promise.all([secret.current(), secret.current(), secret.current()]);
  advance(299);
  await secret.current();
  expect(readings()).toBe(1);

  advance(2);
  expect(await secret.current()).toBe('new');
  expect(readings()).toBe(2);
});

test('one that never rotated has one version, one that rotates has two', async () => {
  expect(await secretOf().versions()).toEqual(['new']);

  manager.on(GetSecretValueCommand, previous).resolves({ SecretString: 'old' });
  expect(await secretOf().versions()).toEqual(['new', 'old']);
});

test('who was shown an unknown version reads again, though not with each guess', async () => {
  const secret = secretOf();
  await secret.versions();
  advance(9);
  await secret.versions(10);
  expect(readings()).toBe(2);

  advance(2);
  manager.on(GetSecretValueCommand, current).resolves({ SecretString: 'newer' });
  expect(await secret.versions(10)).toEqual(['newer']);
});

test('a reading that fails is not kept', async () => {
  manager
    .on(GetSecretValueCommand, current)
    .rejectsOnce(new Error('no right'))
    .resolves({ SecretString: 'new' });
  const secret = secretOf();

  await expect(secret.current()).rejects.toThrow('no right');
  expect(await secret.current()).toBe('new');
});

const noCallers = { find: async () => undefined } as unknown as CallerStore;

test('43 letters and digits, as Secrets Manager makes them, are a master secret', async () => {
  const text = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V';
  manager.on(GetSecretValueCommand, current).resolves({ SecretString: text });
  const signer = createStoredSigner({ masterSecret: secretOf(), callers: noCallers, now: () => clock.now });

  const headers = await signer.sign('harbour', 'msg_1', clock.now, '{}');

  expect(headers['webhook-signature']).toMatch(/^v1,/);
  expect(await signer.secret('harbour')).toMatch(/^whsec_/);
});

test('a master secret of another length is refused', async () => {
  manager.on(GetSecretValueCommand, current).resolves({ SecretString: 'short' });
  const signer = createStoredSigner({ masterSecret: secretOf(), callers: noCallers, now: () => clock.now });

  await expect(signer.secret('harbour')).rejects.toThrow('32 bytes');
});
