import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LinkSigner, WebhookSigner } from '../core/ports/delivery.ts';
import { loadOnce } from './load-once.ts';

/** Creates the signer of links to evidence. Its key derives from the master secret, which no caller has. */
export function createLinkSigner(masterSecret: () => Promise<Uint8Array>): LinkSigner {
  const sign = async (text: string): Promise<Buffer> => {
    const key = createHmac('sha256', await masterSecret())
      .update('watchpost:evidence:v1')
      .digest();
    return createHmac('sha256', key).update(text).digest();
  };
  return {
    sign: async (text) => (await sign(text)).toString('base64url'),
    verify: async (text, signature) => {
      const [expected, given] = [await sign(text), Buffer.from(signature, 'base64url')];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

export type WebhookSignerOptions = {
  /** 32 random bytes from which the secret of every caller derives. */
  masterSecret: Uint8Array;
  /** Returns the valid versions of a caller's secret, newest first: two during a rotation. Default: version 1. */
  versions?: (caller: string) => Promise<readonly number[]>;
};

/** Creates a signer for Standard Webhooks, with one signature per valid version of the caller's secret. */
export function createWebhookSigner(options: WebhookSignerOptions): WebhookSigner {
  const { masterSecret, versions = firstVersion } = options;
  if (masterSecret.length !== 32) throw new RangeError('The master secret must have 32 bytes');

  async function secrets(caller: string): Promise<string[]> {
    return (await versions(caller)).map((version) => deriveSecret(masterSecret, caller, version));
  }

  return {
    sign: async (caller, messageId, signedAt, body) => {
      const { Webhook } = await loadLibrary();
      const signatures = (await secrets(caller)).map((secret) =>
        new Webhook(secret).sign(messageId, signedAt, body),
      );
      return {
        'webhook-id': messageId,
        'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1_000)),
        'webhook-signature': signatures.join(' '),
      };
    },
    secret: async (caller) => {
      const [newest] = await secrets(caller);
      if (newest === undefined) throw new Error('The caller has no webhook secret');
      return newest;
    },
    fingerprintKey: async (caller) =>
      derive(masterSecret, `watchpost:fingerprint:${caller}`).toString('base64url'),
  };
}

/**
 * Loads the library at the first signature: a cold start of the API does without it. Bundled CommonJS has only the
 * default export.
 */
const loadLibrary = loadOnce(async () => (await import('standardwebhooks')).default);

const firstVersion = async (): Promise<readonly number[]> => [1];

function deriveSecret(masterSecret: Uint8Array, caller: string, version: number): string {
  return `whsec_${derive(masterSecret, `watchpost:webhook:v${version}:${caller}`).toString('base64')}`;
}

function derive(masterSecret: Uint8Array, purpose: string): Buffer {
  return createHmac('sha256', masterSecret).update(purpose).digest();
}
