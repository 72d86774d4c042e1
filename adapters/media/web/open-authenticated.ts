import { setSystemTimer, wait, type SetTimer } from '../../../core/time-limit.ts';
import type { CookieJar } from '../../egress/cookies.ts';
import { createAuthorizer, type Authorizer, readCredentials } from '../../egress/authorizer.ts';
import type { OpenResponse, StreamingHttp } from '../../egress/guarded-http.ts';
import { busyWaitsMs } from '../../egress/busy-waits.ts';
import { createFairByteCache } from '../../byte-cache.ts';

export type OpenOptions = {
  cookies?: CookieJar | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  caller: string;
};

/**
 * Opens URLs of cameras. A 401 is returned if the credentials of the URL do not help. Throws like `StreamingHttp.open`.
 */
export type OpenAuthenticated = (url: string, options: OpenOptions) => Promise<OpenResponse>;

const [maxKnown, maxBytes] = [1000, 40 * 1024 * 1024];
/** Its texts are parts of a header, of 16 kB at most. */
const challengeBytes = 33_000;
/** Refusals of the first request, of the one with credentials, and of one more for an expired nonce. */
const maxRefusals = 3;

/**
 * Creates the opener. As with RTSP, credentials are sent after a challenge only, in the strongest scheme that it
 * offers, and only to the origin of the URL, and a busy server (503) is tried again: many cameras serve one viewer, and
 * notice late that the last one has left. Later requests know its challenge.
 */
export function createOpenAuthenticated(
  http: StreamingHttp,
  newNonce: () => string,
  setTimer: SetTimer = setSystemTimer,
): OpenAuthenticated {
  const facts = createFairByteCache<Authorizer>({
    name: 'challenges of cameras',
    max: maxKnown,
    maxBytes,
    bytesOf: () => challengeBytes,
  });
  return async (text, { caller, ...options }) => {
    const url = new URL(text);
    const credentials = readCredentials(url);
    url.username = '';
    url.password = '';
    url.hash = '';
    const authorizer = facts.get(caller, text) ?? createAuthorizer(credentials, newNonce);
    facts.delete(caller, text);
    let target = url.href;
    let refusals = 0;
    const waitsMs = [...busyWaitsMs];
    for (;;) {
      const headers = Object.fromEntries(authorizer.headers('GET', toPath(target)));
      const response = await http.open(target, { ...options, headers });
      const waitMs = response.status === 503 ? waitsMs.shift() : undefined;
      if (waitMs !== undefined) {
        response.close();
        await wait(waitMs, setTimer, options.signal);
        continue;
      }
      if (response.status !== 401) {
        authorizer.confirm();
        // The challenge of a redirect would be sent for another path.
        if (credentials !== null && target === url.href) facts.set(caller, text, authorizer);
        return response;
      }
      refusals += 1;
      const isOwn = URL.parse(response.url)?.origin === url.origin;
      // Some cameras refuse without a challenge, and take what other clients send at first.
      const challenges = [response.headers['www-authenticate'] ?? 'Basic'];
      if (!isOwn || refusals === maxRefusals || !authorizer.accept(challenges)) return response;
      response.close();
      target = response.url;
    }
  };
}

function toPath(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
