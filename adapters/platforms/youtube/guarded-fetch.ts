import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { requestPlatform } from '../platform-request.ts';

/** InnerTube response with a status other than 2xx. */
export class InnertubeStatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`InnerTube returned HTTP status ${status}`);
    this.name = 'InnertubeStatusError';
    this.status = status;
  }
}

/**
 * Creates the `fetch` of youtubei.js. Sends requests for www.youtube.com to `url` with the guarded client and
 * rejects other hosts, so that cookies stay with their host. Throws `InnertubeStatusError`, and like `requestPlatform`.
 */
export function createGuardedFetch(http: GuardedHttp, url: string) {
  return async (input: Request | URL | string, init: RequestInit = {}): Promise<Response> => {
    const asked = new URL(input instanceof Request ? input.url : input);
    if (asked.origin !== innertubeOrigin) throw new Error('The library requested another host');
    const answer = await requestPlatform(http, 'YouTube', `${url}${asked.pathname}${asked.search}`, {
      method: (input instanceof Request ? input.method : init.method) === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
    });
    if (answer.status < 200 || answer.status > 299) throw new InnertubeStatusError(answer.status);
    return new Response(Buffer.from(answer.body), { status: 200 });
  };
}

const innertubeOrigin = 'https://www.youtube.com';
