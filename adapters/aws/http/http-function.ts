import type { Hono } from 'hono';
import { WatchpostError } from '../../../core/errors.ts';
import type { AuthEnv } from '../../http/bearer-auth.ts';
import { errorResponse } from '../../http/error-envelope.ts';
import type { Secret } from '../secret.ts';
import { hasOriginSecret } from './verify-origin-secret.ts';
import { toRequest } from './http-event.ts';
import type { HttpEvent } from './http-event.ts';
import { viewerHostHeader } from './origin-headers.ts';

/** Options of `createHttpFunction`. */
export type HttpFunctionOptions = {
  originSecret: Secret;
  /** Base URL, if the deployment has its own host. Otherwise the host of the viewer request is used. */
  baseUrl: string | undefined;
  /** Creates the app for a base URL, which its links begin with. */
  appFor: (baseUrl: string) => Hono<AuthEnv>;
};

/** Handles one HTTP event. */
export type HttpFunction = (event: HttpEvent) => Promise<Response>;

/**
 * Creates a function that handles requests with the app. Rejects requests that did not come through CloudFront
 * before reading anything else.
 */
export function createHttpFunction({ originSecret, baseUrl, appFor }: HttpFunctionOptions): HttpFunction {
  const apps = new Map<string, Hono<AuthEnv>>();
  // Node loads its `fetch` classes at first use, in about 25 ms. Initialization has more CPU.
  void new Request('https://initialisation.invalid/');

  return async (event) => {
    if (!(await hasOriginSecret(event, originSecret))) return new Response('Forbidden', { status: 403 });
    let request: Request;
    try {
      request = toRequest(event);
    } catch {
      return malformed();
    }
    return findApp(baseUrl ?? readBaseUrl(event)).fetch(request);
  };

  /** Caches an app per base URL. A distribution has few hosts, and only CloudFront sets the header. */
  function findApp(base: string): Hono<AuthEnv> {
    const known = apps.get(base);
    if (known) return known;
    const app = appFor(base);
    apps.set(base, app);
    return app;
  }
}

/** Without the viewer host header (as in tests), the called host is used. */
function readBaseUrl({ headers, requestContext }: HttpEvent): string {
  return `https://${headers[viewerHostHeader] ?? requestContext.domainName}/api`;
}

function malformed(): Response {
  const { status, body } = errorResponse(
    new WatchpostError('BAD_REQUEST', 'Invalid request', 'Send a valid HTTP request.'),
  );
  return Response.json(body, { status });
}
