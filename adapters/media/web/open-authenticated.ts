import { LRUCache } from 'lru-cache';
import { createAuthorizer, type Authorizer } from '../../egress/authorizer.ts';
import { readCredentials } from '../../egress/credentials.ts';
import type { OpenResponse, StreamingHttp } from '../../egress/guarded-http.ts';

export type OpenOptions = { timeoutMs: number; signal: AbortSignal };

/** Opens URLs of cameras. A 401 is returned if the credentials of the URL do not help. Throws like `StreamingHttp.open`. */
export type OpenAuthenticated = (url: string, options: OpenOptions) => Promise<OpenResponse>;

const maxKnown = 1000;
/** The first request, the one with credentials, and one more for an expired nonce. */
const maxRequests = 3;

/**
 * Creates the opener. As with RTSP, credentials are sent after a challenge only, in the strongest scheme that it offers, and only to the origin of the
 * URL. Later requests know its challenge.
 */
export function createOpenAuthenticated(http: StreamingHttp, newNonce: () => string): OpenAuthenticated {
  const known = new LRUCache<string, Authorizer>({ max: maxKnown });
  return async (text, options) => {
    const url = new URL(text);
    const credentials = readCredentials(url);
    url.username = '';
    url.password = '';
    url.hash = '';
    const authorizer = known.get(text) ?? createAuthorizer(credentials, newNonce);
    known.delete(text);
    let target = url.href;
    for (let requests = 1; ; requests += 1) {
      const headers = Object.fromEntries(authorizer.headers('GET', pathOf(target)));
      const response = await http.open(target, { ...options, headers });
      if (response.status !== 401) {
        authorizer.confirm();
        // The challenge of a redirect would be sent for another path.
        if (credentials !== null && target === url.href) known.set(text, authorizer);
        return response;
      }
      const isOwn = URL.parse(response.url)?.origin === url.origin;
      const challenges = [response.headers['www-authenticate'] ?? ''];
      if (!isOwn || requests === maxRequests || !authorizer.accept(challenges)) return response;
      response.close();
      target = response.url;
    }
  };
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
