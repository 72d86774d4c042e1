import type { Hono } from 'hono';
import { WatchpostError } from '../../../core/errors.ts';
import type { AuthEnv } from '../../http/bearer-auth.ts';
import { errorResponse } from '../../http/error-envelope.ts';
import type { Secret } from '../secret.ts';
import { comesFromCloudFront } from './from-cloudfront.ts';
import { requestOf } from './http-event.ts';
import type { HttpEvent } from './http-event.ts';
import { viewerHostHeader } from './origin-headers.ts';

export type HttpFunctionOptions = {
  originSecret: Secret;
  /** Set where the deployment has a host of its own; else it is the one that the viewer asked CloudFront for. */
  baseUrl: string | undefined;
  /** The app whose links begin with that address. */
  appFor: (baseUrl: string) => Hono<AuthEnv>;
};

export type HttpFunction = (event: HttpEvent) => Promise<Response>;

/** Answers a request by the app; what does not come from CloudFront is refused before anything reads it. */
export function createHttpFunction({ originSecret, baseUrl, appFor }: HttpFunctionOptions): HttpFunction {
  const apps = new Map<string, Hono<AuthEnv>>();
  // Node loads its `fetch` classes when they are first touched, some 25 ms: at initialisation, which has more CPU.
  void new Request('https://initialisation.invalid/');

  return async (event) => {
    if (!(await comesFromCloudFront(event, originSecret))) return new Response('Forbidden', { status: 403 });
    let request: Request;
    try {
      request = requestOf(event);
    } catch {
      return malformed();
    }
    return appOf(baseUrl ?? baseUrlOf(event)).fetch(request);
  };

  /** A distribution has few names, and only CloudFront says one. */
  function appOf(base: string): Hono<AuthEnv> {
    const known = apps.get(base);
    if (known) return known;
    const app = appFor(base);
    apps.set(base, app);
    return app;
  }
}

/** Without a viewer's host (no distribution in front, as in tests) it is the address that was called. */
function baseUrlOf({ headers, requestContext }: HttpEvent): string {
  return `https://${headers[viewerHostHeader] ?? requestContext.domainName}/api`;
}

function malformed(): Response {
  const { status, body } = errorResponse(
    new WatchpostError('BAD_REQUEST', 'Invalid request', 'Send a valid HTTP request.'),
  );
  return Response.json(body, { status });
}
