import { isStream, type Endpoint } from '../../http/endpoint.ts';

/** Headers that CloudFront adds to each request, shared by the stack and the functions. */

/**
 * Header with the origin secret, added by CloudFront, which replaces a viewer's header. Requests without it did not
 * come through CloudFront.
 */
export const originSecretHeader = 'x-watchpost-origin-secret';

/**
 * Header with the host of the viewer request, always set by a CloudFront Function: CloudFront sends the origin's
 * host as `Host`.
 */
export const viewerHostHeader = 'x-watchpost-host';

/**
 * Headers with the further hosts of the deployment, separated by commas: those of its origins, which CloudFront adds,
 * and that of its distribution, by the function.
 */
export const originHostsHeader = 'x-watchpost-origin-hosts';
export const distributionHostHeader = 'x-watchpost-distribution-host';

/** Maximum duration of the function behind the HTTP API, in seconds; the HTTP API itself gives up after 30 s. */
export const maxHttpApiSeconds = 29;

/** Maximum time that CloudFront waits for bytes of an origin, in seconds. */
export const maxOriginSeconds = 60;

type Timed = Pick<Endpoint, 'path' | 'response' | 'timeBudgetSeconds'>;

/**
 * Returns the CloudFront path patterns of the endpoints that stream, send films, which are larger than an invocation
 * returns, or need more time than the HTTP API has.
 */
export function functionUrlPaths(endpoints: readonly Timed[]): string[] {
  return toPatterns(
    endpoints.filter(
      ({ response, timeBudgetSeconds }) =>
        isStream(response) || response.kind === 'mp4' || timeBudgetSeconds > maxHttpApiSeconds,
    ),
  );
}

/**
 * Returns those of them that only follow events. CloudFront selects by path, so that lists of these events have the
 * same origin. A creation can stream too, and stays with the slow endpoints.
 */
export function eventStreamPaths(endpoints: readonly (Timed & Pick<Endpoint, 'method'>)[]): string[] {
  return toPatterns(endpoints.filter(({ method, response }) => method === 'get' && isStream(response)));
}

function toPatterns(endpoints: readonly Timed[]): string[] {
  return [...new Set(endpoints.map(({ path }) => `/api${path.replace(/\{\w+\}/g, '*')}`))];
}
