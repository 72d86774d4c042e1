import { ForbiddenError, WatchpostError } from '../errors.ts';
import type { LinkSigner } from '../ports/delivery.ts';
import { isRevoked, type ApiKey } from '../records/key.ts';
import { addSeconds } from '../time.ts';
import { visibleKey, type KeyDeps, mayCreate, mayGrant, type Actor } from './keys.ts';

/** Session of a browser: valid while its key is, and until `expires` (epoch seconds). */
type Session = {
  hash: string;
  expires: number;
  origin: string;
};

/** A device signs in again if its console was not opened for this time. */
export const sessionSeconds = 30 * 86_400;
const codeSeconds = 300;

/**
 * Creates the token of a session. It works only together with `proof`, which the page keeps where no other origin can
 * read it: browsers send a cookie to every port of a host.
 */
export async function createSessionToken(
  { hash, origin }: Omit<Session, 'expires'>,
  proof: string,
  now: Date,
  signer: LinkSigner,
): Promise<string> {
  const session = { hash, origin, expires: toSeconds(addSeconds(now, sessionSeconds)) };
  const signature = await signer.sign(sessionText(session, proof));
  return [hash, session.expires, Buffer.from(origin).toString('base64url'), signature].join('.');
}

/** Returns the session of a token. Returns undefined if it is forged, has expired, or belongs to another proof. */
export async function readSessionToken(
  token: string,
  proof: string,
  now: Date,
  signer: LinkSigner,
): Promise<Session | undefined> {
  const [hash = '', end, encodedOrigin = '', signature = ''] = token.split('.');
  const session = { hash, expires: Number(end), origin: Buffer.from(encodedOrigin, 'base64url').toString() };
  const isValid = await signer.verify(sessionText(session, proof), signature);
  return isValid && session.expires * 1000 > now.getTime() ? session : undefined;
}

/** Code that signs a device in with a key, once. */
export type SignInCode = { code: string; expires_at: string };

/**
 * Creates a code for a key that was never used, so that the code is its only holder. Throws `NOT_FOUND`,
 * `ForbiddenError` for a key with more scopes than the actor, and `BAD_REQUEST` for a key that was used or revoked.
 */
export async function createSignInCode(
  actor: Actor,
  id: string,
  deps: KeyDeps & { signer: LinkSigner },
): Promise<SignInCode> {
  const key = await visibleKey(actor, id, deps);
  if (!mayGrant(actor, key.scopes) || !mayCreate(actor))
    throw new ForbiddenError('Use a valid key that has all scopes of that key.');
  if (key.last_used_at !== null || isRevoked(key, deps.now()))
    throw new WatchpostError(
      'BAD_REQUEST',
      'This key was used or revoked',
      'Create a key for the device with POST /keys.',
    );
  const expires = toSeconds(addSeconds(deps.now(), codeSeconds));
  const signature = await deps.signer.sign(codeText(key.hash, expires));
  return {
    code: `${key.hash}.${expires}.${signature}`,
    expires_at: new Date(expires * 1000).toISOString(),
  };
}

/** Returns the key of a code. Returns undefined if the code is forged, has expired, or was used. */
export async function redeemSignInCode(
  code: string,
  { keys, now, signer }: Pick<KeyDeps, 'keys' | 'now'> & { signer: LinkSigner },
): Promise<ApiKey | undefined> {
  const [hash = '', end, signature = ''] = code.split('.');
  const isValid = await signer.verify(codeText(hash, Number(end)), signature);
  if (!isValid || Number(end) * 1000 <= now().getTime()) return undefined;
  return (await keys.claim(hash, now())) ? keys.find(hash) : undefined;
}

/** The first lines keep the signed texts apart from those of evidence links, which begin with a UUID. */
function sessionText({ hash, expires, origin }: Session, proof: string): string {
  return `console session\n${hash}\n${expires}\n${origin}\n${proof}`;
}

function codeText(hash: string, expires: number): string {
  return `sign-in code\n${hash}\n${expires}`;
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
