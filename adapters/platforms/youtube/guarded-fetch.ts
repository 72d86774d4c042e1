import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { askPlatform } from '../ask-platform.ts';

/** An answer of InnerTube that is no success. */
export class InnertubeStatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`InnerTube answered with HTTP status ${status}`);
    this.name = 'InnertubeStatusError';
    this.status = status;
  }
}

/**
 * The `fetch` that youtubei.js is given: requests for www.youtube.com go to `url` by the guarded client, requests for anything else
 * nowhere, so that cookies stay with their host. Throws `InnertubeStatusError`, and what `askPlatform` throws.
 */
export function createGuardedFetch(http: GuardedHttp, url: string) {
  return async (input: Request | URL | string, init: RequestInit = {}): Promise<Response> => {
    const asked = new URL(input instanceof Request ? input.url : input);
    if (asked.origin !== innertubeOrigin) throw new Error('The library asked for another host');
    const answer = await askPlatform(http, 'YouTube', `${url}${asked.pathname}${asked.search}`, {
      method: (input instanceof Request ? input.method : init.method) === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
    });
    if (answer.status < 200 || answer.status > 299) throw new InnertubeStatusError(answer.status);
    return new Response(Buffer.from(answer.body), { status: 200 });
  };
}

const innertubeOrigin = 'https://www.youtube.com';
