import { DescribeKeyCommand, GetKeyPolicyCommand, KMSClient, type KeyMetadata } from '@aws-sdk/client-kms';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test } from 'vitest';
import { checkEncryptionKey } from '../../../../lib/operations/preflight/encryption-key.ts';

const client = new KMSClient({ region: 'eu-central-1' });
const kms = mockClient(client);
const arn = 'arn:aws:kms:eu-central-1:123456789012:key/1';
const services = [
  'logs.eu-central-1.amazonaws.com',
  'cloudwatch.amazonaws.com',
  'events.amazonaws.com',
  'delivery.logs.amazonaws.com',
];
const statement = (Action: string | string[], Service: string | string[]) => ({
  Effect: 'Allow',
  Principal: { Service },
  Action,
  Resource: '*',
});
const account = {
  Effect: 'Allow',
  Principal: { AWS: 'arn:aws:iam::1:root' },
  Action: 'kms:*',
  Resource: '*',
};

async function check(metadata: Partial<KeyMetadata>, statements: object[], key = arn) {
  kms.on(DescribeKeyCommand).resolves({
    KeyMetadata: { KeyId: '1', KeyState: 'Enabled', KeySpec: 'SYMMETRIC_DEFAULT', ...metadata },
  });
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [account, ...statements] });
  kms.on(GetKeyPolicyCommand).resolves({ Policy });
  const [result] = await checkEncryptionKey(key, 'eu-central-1', client);
  return `${result?.level}: ${result?.found}`;
}

test('a key whose policy lets the services of AWS use it is green', async () => {
  expect(await check({}, [statement(['kms:Decrypt', 'kms:GenerateDataKey'], services)])).toMatch(/^green/);
  expect(
    await check(
      {},
      services.map((each) => statement('kms:*', each)),
    ),
  ).toMatch(/^green/);
});

test('each service that the policy of the key does not let decrypt is named', async () => {
  for (const [index, service] of services.entries())
    expect(await check({}, [statement('kms:Decrypt', services.toSpliced(index, 1))])).toBe(
      `red: The policy of the key does not name ${service.replace('.amazonaws.com', '')}.`,
    );
  expect(await check({}, [statement('kms:Encrypt', services)])).toMatch(/^red/);
  expect(await check({}, [{ ...statement('kms:*', services), Effect: 'Deny' }])).toMatch(/^red/);
});

test('a key of another region, a disabled one and one for signatures are red', async () => {
  const foreign = arn.replace('eu-central-1', 'us-east-1');
  expect(await check({}, [], foreign)).toBe('red: The key is in us-east-1, and the stack in eu-central-1.');
  expect(await check({ KeyState: 'PendingDeletion' }, [])).toBe('red: The key is PendingDeletion.');
  expect(await check({ KeySpec: 'RSA_2048' }, [])).toBe('red: The key is RSA_2048.');
});

test.each([
  ['NotFoundException', 'red'],
  ['AccessDeniedException', 'yellow'],
])('a key whose description fails with %s is %s', async (name, level) => {
  kms.on(DescribeKeyCommand).rejects(Object.assign(new Error('no'), { name }));
  expect(await checkEncryptionKey(arn, 'eu-central-1', client)).toMatchObject([
    { level, next: expect.stringMatching(/^[A-Z].+\.$/) },
  ]);
});

test('a stage without a key of its own has no result', async () => {
  expect(await checkEncryptionKey(undefined, 'eu-central-1', client)).toEqual([]);
});
