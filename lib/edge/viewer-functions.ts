import { viewerHostHeader } from '../../adapters/aws/http/origin-headers.ts';

/** CloudFront Functions, in the JavaScript of their runtime 2.0: no modules, one function `handler`. */

/** Tells the origins which host was asked for; what the viewer sent by that name is overwritten. */
export const passViewerHost = `
function handler(event) {
  var request = event.request;
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
