import { viewerHostHeader } from '../../adapters/aws/http/origin-headers.ts';

/** CloudFront Functions in JavaScript runtime 2.0: no modules, one function `handler`. */

/** Sends the requested host to the origins in a header, and overwrites a header of that name from the viewer. */
export const passViewerHost = `
function handler(event) {
  var request = event.request;
  request.headers['${viewerHostHeader}'] = { value: request.headers.host.value };
  return request;
}
`.trim();

/** Serves the console page for paths without a file name (`/console`, `/console/jobs/…`). */
export const showConsolePage = `
function handler(event) {
  var request = event.request;
  var name = request.uri.split('/').pop();
  if (name.indexOf('.') === -1) request.uri = '/console/index.html';
  return request;
}
`.trim();
