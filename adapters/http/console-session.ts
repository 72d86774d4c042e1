import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { presentKey } from '../../core/access/keys.ts';
import {
  createSessionToken,
  readSessionToken,
  redeemSignInCode,
  sessionSeconds,
} from '../../core/access/sign-in.ts';
import { ForbiddenError } from '../../core/errors.ts';
import type { ApiKey } from '../../core/records/key.ts';
import type { AuthEnv } from './bearer-auth.ts';
import { isOrigin } from './cors.ts';
import type { HttpDeps } from './dependencies.ts';

type Deps = Pick<HttpDeps, 'keys' | 'now' | 'steadyNow' | 'evidenceLinks' | 'randomBytes'>;

export const sessionPath = '/api/session';
/** Headers of the console only. A page of another origin cannot send them: no preflight response allows them. */
export const sessionHeaders = { proof: 'Watchpost-Session', code: 'Watchpost-Sign-In' };
/** Name of the cookie on the default port. */
export const sessionCookie = 'watchpost_session';
const cookiePath = '/api';
const proofBytes = 32;

/**
 * Reads the key of a session, for requests without `Authorization`. Returns undefined without a valid session, and for
 * other pages.
 */
export function readSession({ keys, steadyNow, evidenceLinks: { signer } }: Deps) {
  return async (context: Context): Promise<ApiKey | undefined> => {
    const proof = context.req.header(sessionHeaders.proof);
    const token = getCookie(context, cookieName(context));
    if (!proof || !token) return undefined;
    const session = await readSessionToken(token, proof, steadyNow(), signer);
    return session && isSentFrom(session.origin, context) ? keys.find(session.hash) : undefined;
  };
}

/** Reads the key of a sign-in code, which is used up by that. */
export function readSignInCode(deps: Deps) {
  return async (context: Context): Promise<ApiKey | undefined> => {
    const code = context.req.header(sessionHeaders.code);
    return code === undefined || !isSentFrom(context.req.header('Origin'), context)
      ? undefined
      : redeemSignInCode(code, { ...deps, signer: deps.evidenceLinks.signer });
  };
}

/** Handles `POST /api/session`: begins the session of a browser, or renews the one of the request. */
export function beginSession({ steadyNow, evidenceLinks: { signer }, randomBytes }: Deps) {
  return async (context: Context<AuthEnv>): Promise<Response> => {
    const origin = context.req.header('Origin');
    if (origin === undefined || !isOrigin(origin) || !isSentFrom(origin, context))
      throw new ForbiddenError('Sign in from the console of this service.');
    const key = context.get('key');
    const isRenewal = context.req.header('Authorization') === undefined;
    const proof =
      (isRenewal ? context.req.header(sessionHeaders.proof) : undefined) ??
      Buffer.from(randomBytes(proofBytes)).toString('base64url');
    const token = await createSessionToken({ hash: key.hash, origin }, proof, steadyNow(), signer);
    setCookie(context, cookieName(context), token, {
      ...cookieOptions(origin),
      maxAge: sessionSeconds,
    });
    context.header('Cache-Control', 'no-store');
    return context.json({ ...presentKey(key), proof });
  };
}

/** Handles `DELETE /api/session`: the browser forgets its session. */
export function endSession(context: Context<AuthEnv>): Response {
  deleteCookie(context, cookieName(context), cookieOptions(context.req.header('Origin') ?? ''));
  return context.body(null, 204);
}

/** A proxy may end TLS before this service, so the origin of the page decides about `Secure`. */
function cookieOptions(origin: string) {
  return {
    path: cookiePath,
    httpOnly: true,
    sameSite: 'Strict',
    secure: origin.startsWith('https:'),
  } as const;
}

/** Returns the name of the cookie, with the port: services on ports of one host share their cookies. */
function cookieName({ req }: Context): string {
  const { port } = new URL(req.url);
  return `${sessionCookie}${port && `_${port}`}`;
}

/** Returns true if the browser says that a page of this origin sends the request. Only reads come without `Origin`. */
function isSentFrom(origin: string | undefined, { req }: Context): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const stated = req.header('Origin') ?? (isRead ? origin : undefined);
  return (
    stated === origin && origin !== undefined && (req.header('Sec-Fetch-Site') ?? sameOrigin) === sameOrigin
  );
}

const sameOrigin = 'same-origin';
