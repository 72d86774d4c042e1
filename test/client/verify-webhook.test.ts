import { expect, test } from 'vitest';
import { createWebhookSigner } from '../../adapters/signers.ts';
import { verifyWebhook, WebhookVerificationError } from '../../client/index.ts';

const masterSecret = new Uint8Array(32).fill(7);
const versions = (...valid: number[]) => createWebhookSigner({ masterSecret, versions: async () => valid });
const body = JSON.stringify({ type: 'job_started', timestamp: '', source_url: '', data: { sequence: 1 } });

async function signed(signer = versions(1), at = new Date()) {
  return { secret: await signer.secret('harbour'), headers: await signer.sign('harbour', 'msg_1', at, body) };
}

test('a valid signature returns the event and its webhook-id', async () => {
  const { secret, headers } = await signed();

  expect(verifyWebhook(secret, headers, body)).toEqual({ id: 'msg_1', event: JSON.parse(body) });
  expect(verifyWebhook(secret, new Headers(headers), body).event.type).toBe('job_started');
  const written = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  expect(verifyWebhook(secret, written, body).event.type).toBe('job_started');
});

test('a webhook verifies with the old and the new secret during a rotation', async () => {
  const { headers } = await signed(versions(2, 1));
  const [old, renewed] = [await versions(1).secret('harbour'), await versions(2).secret('harbour')];

  for (const secret of [old, renewed, [old, renewed], [await versions(9).secret('harbour'), old]]) {
    expect(verifyWebhook(secret, headers, body).id).toBe('msg_1');
  }
});

test.each([
  ['with another body', { body: body.replace('1', '2') }],
  ['with another id', { headers: { 'webhook-id': 'msg_2' } }],
  ['without a signature', { headers: { 'webhook-signature': '' } }],
  ['with the secret of another caller', { secret: `whsec_${Buffer.alloc(32).toString('base64')}` }],
])(
  'verifyWebhook rejects a webhook %s',
  async (_, change: { body?: string; headers?: object; secret?: string }) => {
    const { secret, headers } = await signed();

    expect(() =>
      verifyWebhook(change.secret ?? secret, { ...headers, ...change.headers }, change.body ?? body),
    ).toThrow(WebhookVerificationError);
  },
);

test('verifyWebhook rejects a webhook older than five minutes', async () => {
  const { secret, headers } = await signed(versions(1), new Date(Date.now() - 6 * 60_000));

  expect(() => verifyWebhook(secret, headers, body)).toThrow(WebhookVerificationError);
});
