import type { ApiKey, Scope } from '../records/key.ts';

/** The primitives that keys are made of; handed in, since the core has no crypto of its own. */
export type KeyCrypto = { sha256: (text: string) => string; randomBytes: (length: number) => Uint8Array };

const secretBytes = 32;
const checksumLength = 6;
/** `wp_`, 32 random bytes in base64url, and a checksum that tells a mistyped key without a look-up. */
const format = /^wp_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/;

export type ApiKeySpec = {
  caller: string;
  scopes: Scope[];
  label: string | null;
  created_by?: string | null;
};

/** A new key: its text, to be shown once, and what is stored of it. */
export function mintKey(wanted: ApiKeySpec, now: Date, primitives: KeyCrypto): { text: string; key: ApiKey } {
  const secret = `wp_${Buffer.from(primitives.randomBytes(secretBytes)).toString('base64url')}`;
  const text = `${secret}${checksum(secret, primitives)}`;
  const key: ApiKey = {
    hash: primitives.sha256(text),
    prefix: text.slice(0, 11),
    caller: wanted.caller,
    scopes: wanted.scopes,
    label: wanted.label,
    created_by: wanted.created_by ?? null,
    created_at: now.toISOString(),
    last_used_at: null,
    revoked_at: null,
  };
  return { text, key };
}

/** The hash to look a key up by; undefined where the text is no key of ours. */
export function hashApiKey(text: string, primitives: KeyCrypto): string | undefined {
  if (!format.test(text)) return undefined;
  const secret = text.slice(0, -checksumLength);
  return text.endsWith(checksum(secret, primitives)) ? primitives.sha256(text) : undefined;
}

function checksum(secret: string, { sha256 }: KeyCrypto): string {
  return sha256(secret).slice(0, checksumLength);
}
