import { validVersions } from '../../core/caller.ts';
import type { CallerStore } from '../../core/ports/caller-store.ts';
import type { WebhookSigner } from '../../core/ports/delivery.ts';
import { createWebhookSigner } from '../webhook/webhook-signer.ts';
import type { Secret } from './secret.ts';

export type StoredSignerOptions = { masterSecret: Secret; callers: CallerStore; now: () => Date };

/** Signs with secrets that follow from the master secret, which is read when something is first signed. */
export function createStoredSigner({ masterSecret, callers, now }: StoredSignerOptions): WebhookSigner {
  const signer = async () =>
    createWebhookSigner({
      masterSecret: decode(await masterSecret.current()),
      versions: async (caller) => validVersions(await callers.find(caller), now()),
    });
  return {
    sign: async (...args) => (await signer()).sign(...args),
    secret: async (caller) => (await signer()).secret(caller),
  };
}

/** 32 bytes in base64; 43 letters and digits, as Secrets Manager generates them, are such a text too. */
function decode(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 32) return bytes;
  throw new Error('The master secret holds no 32 bytes in base64');
}
