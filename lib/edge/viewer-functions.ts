import { distributionHostHeader, viewerHostHeader } from '../../adapters/aws/http/origin-headers.ts';
import { errorResponse } from '../../adapters/http/error-envelope.ts';
import { UnauthorizedError } from '../../core/errors.ts';

/** CloudFront Functions in JavaScript runtime 2.0: no modules, one function `handler`. */

/** Matches the form of a key, less strictly than the service: `Bearer` in any case, checksum not verified. */
const keyHeader = '/^bearer wp_[a-z0-9_-]{43}[0-9a-f]{6}$/i';

/**
 * Sends the requested host and that of the distribution to the origins in headers, and overwrites headers of these names from the viewer. Refuses requests without a key of the
 * right form, with the response of the service: they cost no Lambda concurrency, which an account shares. The service validates the key.
 * A preflight request of an allowed origin has no key and is forwarded.
 */
export function admitRequest(allowedOrigins: readonly string[]): string {
  return `
var origins = ${JSON.stringify(allowedOrigins)};
function handler(event) {
  var request = event.request;
  var authorization = request.headers.authorization;
  var origin = request.headers.origin;
  var preflight = request.method === 'OPTIONS' && origin && origins.indexOf(origin.value) !== -1;
  if (!preflight && /^\\/(api|mcp)(\\/|$)/.test(request.uri) && !(authorization && ${keyHeader}.test(authorization.value))) {
    return {
      statusCode: 401,
      statusDescription: 'Unauthorized',
      headers: {
        'content-type': { value: 'application/json' },
        'www-authenticate': { value: 'Bearer' },
        'cache-control': { value: 'no-store' },
        'x-content-type-options': { value: 'nosniff' }
      },
      body: { encoding: 'text', data: ${JSON.stringify(JSON.stringify(errorResponse(new UnauthorizedError()).body))} }
    };
  }
  request.headers['${viewerHostHeader}'] = { value: request.headers.host.value };
  request.headers['${distributionHostHeader}'] = { value: event.context.distributionDomainName };
  return request;
}
`.trim();
}

/** Serves the page of a folder for paths without a file name (`/console`, `/console/jobs/…`, `/docs`). */
export function showPage(folder: 'console' | 'docs'): string {
  return `
function handler(event) {
  var request = event.request;
  var name = request.uri.split('/').pop();
  if (name.indexOf('.') === -1) request.uri = '/${folder}/index.html';
  return request;
}
`.trim();
}
