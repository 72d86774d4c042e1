import { expect, test } from 'vitest';
import { createWebhookSigner } from '../../../../adapters/signers.ts';

const masterSecret = Buffer.alloc(32, 7);

test("a caller's secret is stable across restarts and differs between callers", async () => {
  expect(await toSecret('harbour')).toBe(await toSecret('harbour'));
  expect(await toSecret('harbour')).not.toBe(await toSecret('airport'));
  expect(await toSecret('harbour')).not.toBe(await toSecret('harbour', Buffer.alloc(32, 8)));
  // A change of the derivation would break every receiver.
  expect(await toSecret('harbour')).toBe('whsec_gL0+8alcfSAobmUgfxU5QPR5ApIGZc1StByQafnnDLk=');
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
