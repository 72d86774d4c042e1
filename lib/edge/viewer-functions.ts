import { viewerHostHeader } from '../../adapters/aws/http/origin-headers.ts';
import { errorResponse } from '../../adapters/http/error-envelope.ts';
import { UnauthorizedError } from '../../core/errors.ts';

/** CloudFront Functions, in the JavaScript of their runtime 2.0: no modules, one function `handler`. */

/** Milder than the service itself: `Bearer` in any case, and a key without its checksum looked at. */
const keyHeader = '/^bearer wp_[a-z0-9_-]{43}[0-9a-f]{6}$/i';

/**
 * What is sent to the origins tells them which host was asked for; what the viewer sent by that name is overwritten. What has no key of the right form is
 * refused here, as the service would: it costs an execution of this function and none of Lambda's, which an account has few of. Whether a key is good is
 * the service's to say.
 */
export const admitRequest = `
function handler(event) {
  var request = event.request;
  var authorization = request.headers.authorization;
  if (/^\\/(api|mcp)(\\/|$)/.test(request.uri) && !(authorization && ${keyHeader}.test(authorization.value))) {
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
  return request;
}
`.trim();

/** The console is one page: paths that name no file of it (\`/console\`, \`/console/jobs/…\`) are that page. */
export const showConsolePage = `
function handler(event) {
  var request = event.request;
  var name = request.uri.split('/').pop();
  if (name.indexOf('.') === -1) request.uri = '/console/index.html';
  return request;
}
`.trim();
