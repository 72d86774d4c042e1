import type { ApiKey, Scope } from '../records/key.ts';

/** Cryptographic functions for keys. They are dependencies, because core imports no crypto. */
export type KeyCrypto = { sha256: (text: string) => string; randomBytes: (length: number) => Uint8Array };

const secretBytes = 32;
const checksumLength = 6;
/** `wp_`, 32 random bytes in base64url, and a checksum that detects a mistyped key without a read. */
const format = /^wp_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/;

export type ApiKeySpec = {
  caller: string;
  scopes: Scope[];
  label: string | null;
  created_by?: string | null;
};

/** Creates a key. Returns its text, which is shown once, and the record to store. */
export function mintKey(spec: ApiKeySpec, now: Date, crypto: KeyCrypto): { text: string; key: ApiKey } {
  const secret = `wp_${Buffer.from(crypto.randomBytes(secretBytes)).toString('base64url')}`;
  const text = `${secret}${checksum(secret, crypto)}`;
  const key: ApiKey = {
    hash: crypto.sha256(text),
    prefix: text.slice(0, 11),
    caller: spec.caller,
    scopes: spec.scopes,
    label: spec.label,
    created_by: spec.created_by ?? null,
    created_at: now.toISOString(),
    last_used_at: null,
    revoked_at: null,
  };
  return { text, key };
}

/** Returns the hash that identifies the key. Returns undefined if the text is not a valid key. */
export function hashApiKey(text: string, crypto: KeyCrypto): string | undefined {
  if (!format.test(text)) return undefined;
  const secret = text.slice(0, -checksumLength);
  return text.endsWith(checksum(secret, crypto)) ? crypto.sha256(text) : undefined;
}

function checksum(secret: string, { sha256 }: KeyCrypto): string {
  return sha256(secret).slice(0, checksumLength);
}
