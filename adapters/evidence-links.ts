import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LinkSigner } from '../core/ports/delivery.ts';

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
