import { createHash, timingSafeEqual } from 'node:crypto';
import type { Hono } from 'hono';
import { WatchpostError } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports/observability.ts';
import type { AuthEnv } from '../../http/bearer-auth.ts';
import { errorResponse } from '../../http/error-envelope.ts';
import type { Secret } from '../secret.ts';
import { toRequest, type HttpEvent } from './http-event.ts';
import {
  distributionHostHeader,
  originHostsHeader,
  originSecretHeader,
  viewerHostHeader,
} from './origins.ts';

export type HttpFunctionOptions = {
  originSecret: Secret;
  log: Pick<Log, 'error'>;
  /** Base URL, if the deployment has its own host. Otherwise the host of the viewer request is used. */
  baseUrl: string | undefined;
  /**
   * Creates the app for a base URL, which its links begin with, and for the hosts of the deployment, which no stream
   * and receiver may have.
   */
  appFor: (baseUrl: string, ownHosts: readonly string[]) => Hono<AuthEnv>;
};

export type HttpFunction = (event: HttpEvent) => Promise<Response>;

/**
 * Creates a function that handles requests with the app. Rejects requests that did not come through CloudFront
 * before reading anything else. Never throws: API Gateway and function URLs would answer without the error envelope.
 */
export function createHttpFunction({
  originSecret,
  log,
  baseUrl,
  appFor,
}: HttpFunctionOptions): HttpFunction {
  const apps = new Map<string, Hono<AuthEnv>>();
  // Node loads its `fetch` classes at first use, in about 25 ms. Initialization has more CPU.
  void new Request('https://initialisation.invalid/');

  return async (event) => {
    try {
      return await respond(event);
    } catch (error) {
      log.error('Request failed', { path: event.rawPath, error: String(error) });
      return toResponse(error);
    }
  };

  async function respond(event: HttpEvent): Promise<Response> {
    if (!(await hasOriginSecret(event, originSecret))) return new Response('Forbidden', { status: 403 });
    let request: Request;
    try {
      request = toRequest(event);
    } catch {
      return malformed();
    }
    return findApp(baseUrl ?? readBaseUrl(event), event.headers).fetch(request);
  }

  /** Caches an app per base URL and hosts. A distribution has few, and only CloudFront sets the headers. */
  function findApp(base: string, headers: HttpEvent['headers']): Hono<AuthEnv> {
    const ownHosts = [base, headers[distributionHostHeader], headers[originHostsHeader]].join();
    const kept = apps.get(ownHosts);
    if (kept) return kept;
    const app = appFor(base, [new URL(base).hostname, ...ownHosts.split(',').slice(1)]);
    apps.set(ownHosts, app);
    return app;
  }
}

/** Without the viewer host header (as in tests), the called host is used. */
function readBaseUrl({ headers, requestContext }: HttpEvent): string {
  return `https://${headers[viewerHostHeader] ?? requestContext.domainName}/api`;
}

function malformed(): Response {
  return toResponse(new WatchpostError('BAD_REQUEST', 'Invalid request', 'Send a valid HTTP request.'));
}

/** Returns the response of an error: the envelope. */
function toResponse(error: unknown): Response {
  const { status, body } = errorResponse(error);
  return Response.json(body, { status });
}

/** Returns the response of a request that takes longer than its function may. */
export function outOfTime(): Response {
  return toResponse(
    new WatchpostError(
      'INTERNAL_ERROR',
      'Internal server error',
      'The request took too long. Read what it changed, then try again with exponential backoff.',
    ),
  );
}

/** Minimum time between reads of the secret: wrong guesses must not flood Secrets Manager. */
const minRereadSeconds = 10;

/**
 * Returns true if the request has the secret of the distribution, because the origins are public. The comparison takes
 * constant time.
 */
async function hasOriginSecret({ headers }: HttpEvent, secret: Secret): Promise<boolean> {
  const shown = headers[originSecretHeader];
  if (shown === undefined) return false;
  return (
    matchesAny(shown, await secret.versions()) || matchesAny(shown, await secret.versions(minRereadSeconds))
  );
}

function matchesAny(shown: string, versions: string[]): boolean {
  return versions.filter((version) => timingSafeEqual(digest(version), digest(shown))).length > 0;
}

/** Hashes to equal lengths, as `timingSafeEqual` requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
