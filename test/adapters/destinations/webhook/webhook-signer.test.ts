import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createWebhookSigner } from '../../../../adapters/destinations/webhook/webhook-signer.ts';

const masterSecret = Buffer.alloc(32, 7);
const body = '{"type":"watch_triggered","data":{"explanation":"Ein Schiff fährt ein 🚢"}}';

test("a signature is verified by the public library with the caller's secret", async () => {
  const signer = createWebhookSigner({ masterSecret });
  const secret = await signer.secret('harbour');

  const headers = await signer.sign('harbour', 'msg_1', new Date(), body);

  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
});

test('the headers contain the unchanged id and the time in whole seconds', async () => {
  const signer = createWebhookSigner({ masterSecret });

  const headers = await signer.sign('harbour', 'msg_1', new Date('2026-03-01T12:00:00.999Z'), body);

  expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-timestamp': '1772366400' });
});

test("a caller's secret is stable across restarts and differs between callers", async () => {
  expect(await toSecret('harbour')).toBe(await toSecret('harbour'));
  expect(await toSecret('harbour')).not.toBe(await toSecret('airport'));
  expect(await toSecret('harbour')).not.toBe(await toSecret('harbour', Buffer.alloc(32, 8)));
  // A change of the derivation would break every receiver.
  expect(await toSecret('harbour')).toBe('whsec_gL0+8alcfSAobmUgfxU5QPR5ApIGZc1StByQafnnDLk=');
});

test('both secrets sign during a rotation, and the new one is returned', async () => {
  const before = await createWebhookSigner({ masterSecret }).secret('harbour');
  const rotating = createWebhookSigner({ masterSecret, versions: async () => [2, 1] });
  const now = await rotating.secret('harbour');

  const headers = await rotating.sign('harbour', 'msg_1', new Date(), body);

  expect(now).not.toBe(before);
  expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  for (const secret of [before, now]) {
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  }
});

test("a rotation keeps the key of a caller's fingerprints, which is no secret of another caller", async () => {
  const before = createWebhookSigner({ masterSecret });
  const rotated = createWebhookSigner({ masterSecret, versions: async () => [2] });
  expect(await rotated.fingerprintKey('harbour')).toBe(await before.fingerprintKey('harbour'));
  expect(await before.fingerprintKey('airport')).not.toBe(await before.fingerprintKey('harbour'));
});

test('the versions of the signing caller are requested', async () => {
  const signer = createWebhookSigner({
    masterSecret,
    versions: async (caller) => (caller === 'harbour' ? [2] : [1]),
  });
  const first = createWebhookSigner({ masterSecret });

  expect(await signer.secret('airport')).toBe(await first.secret('airport'));
  expect(await signer.secret('harbour')).not.toBe(await first.secret('harbour'));
});

test('a master secret of another length is rejected', () => {
  expect(() => createWebhookSigner({ masterSecret: Buffer.alloc(16) })).toThrow(RangeError);
});

function toSecret(caller: string, master = masterSecret): Promise<string> {
  return createWebhookSigner({ masterSecret: master }).secret(caller);
}
