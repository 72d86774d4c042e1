import { runInNewContext } from 'node:vm';

type ViewerRequest = {
  method?: string | undefined;
  uri: string;
  headers?: NodeJS.Dict<string | string[]>;
};

/**
 * Runs a CloudFront function for a request, which CloudFront gives it with header names in lower case and the cookies
 * apart from the headers. Returns the request to the origin, or the response to the viewer
 * (docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-event-structure.html).
 */
export function runViewerFunction(code: string, { method = 'GET', uri, headers = {} }: ViewerRequest): any {
  const { cookie, ...others } = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  const request = {
    method,
    uri,
    headers: toFields(Object.entries(others)),
    cookies: toFields((cookie ?? '').split('; ').map((text) => text.split(/=(.*)/, 2))),
  };
  const context = { distributionDomainName: 'd123.cloudfront.net' };
  return runInNewContext(`${code}; handler({ request, context })`, { request, context });
}

function toFields(pairs: string[][]): Record<string, { value: string }> {
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, { value }]));
}
