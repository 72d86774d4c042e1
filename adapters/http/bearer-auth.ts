import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { hashApiKey, type KeyCrypto } from '../../core/access/api-key.ts';
import { UnauthorizedError } from '../../core/errors.ts';
import { isRevoked, type ApiKey } from '../../core/records/key.ts';
import type { KeyStore } from '../../core/ports/callers.ts';
import type { UnknownField } from '../../core/requests/unknown-fields.ts';
import type { Log } from '../../core/ports/observability.ts';

export type AuthDeps = KeyCrypto & {
  keys: KeyStore;
  now: () => Date;
  /** Monotonic time: a clock that is set back must not make a revoked key valid. */
  steadyNow: () => Date;
  log: Log;
};
export type AuthEnv = {
  Variables: {
    key: ApiKey;
    /** Reads the request body; set by `limitBodies`. */
    readBody: () => Promise<Uint8Array<ArrayBuffer>>;
    /** Validated parts of the request, by name; set by `validateRequest`. */
    parts?: Record<string, unknown>;
    /** Fields of the body that its schema does not have; set by `validateRequest`. */
    unknown?: UnknownField[];
  };
};

/** Header with exactly one space and nothing around it; other spellings are rejected (I-5.4). */
const bearer = /^Bearer ([^\s]+)$/i;
const touchAfterMs = 60_000;

/** Reads the key of a request that has no `Authorization` header. */
type ReadKey = (context: Context) => Promise<ApiKey | undefined>;

/**
 * Authenticates the request and sets `key`. Throws `UnauthorizedError` for a missing, unknown or revoked key. `others`
 * read keys only of requests without `Authorization`.
 */
export function bearerAuth(deps: AuthDeps, ...others: ReadKey[]) {
  return createMiddleware<AuthEnv>(async (c, next) => {
    const header = c.req.header('Authorization');
    const key = header === undefined ? await readFirst(others, c) : await readKey(header, deps);
    if (!key || isRevoked(key, deps.steadyNow())) throw new UnauthorizedError();
    c.set('key', key);
    await touch(key, deps);
    await next();
  });
}

async function readFirst(readers: readonly ReadKey[], context: Context): Promise<ApiKey | undefined> {
  for (const read of readers) {
    const key = await read(context);
    if (key) return key;
  }
  return undefined;
}

async function readKey(header: string, deps: AuthDeps): Promise<ApiKey | undefined> {
  const text = bearer.exec(header)?.[1];
  const hash = text === undefined ? undefined : hashApiKey(text, deps);
  return hash === undefined ? undefined : deps.keys.find(hash);
}

/**
 * Stores `last_used_at`, at most once per minute to save writes. A full disk rejects no request: the failure is logged.
 */
async function touch(key: ApiKey, { keys, now, log }: AuthDeps): Promise<void> {
  const last = key.last_used_at === null ? 0 : Date.parse(key.last_used_at);
  if (now().getTime() - last <= touchAfterMs) return;
  try {
    await keys.touch(key.hash, now());
  } catch (error) {
    log.warning('Last use of a key could not be stored', { error: String(error) });
  }
}
