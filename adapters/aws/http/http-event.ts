import { z } from 'zod';

/** Used part of a request in payload format 2.0, as sent by the HTTP API and by function URLs. */
export const httpEventSchema = z.object({
  rawPath: z.string(),
  rawQueryString: z.string().default(''),
  /** Header names in lower case. Repeated headers are joined by commas. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Cookies, which this format moves out of the headers. */
  cookies: z.array(z.string()).default([]),
  requestContext: z.object({ domainName: z.string(), http: z.object({ method: z.string() }) }),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
});
/** Request in payload format 2.0. */
export type HttpEvent = z.output<typeof httpEventSchema>;

const values = z.record(z.string(), z.array(z.string())).nullish();

/** Used part of a request in payload format 1.0, as sent by a REST API. */
const restEventSchema = z
  .object({
    httpMethod: z.string(),
    path: z.string(),
    multiValueQueryStringParameters: values,
    multiValueHeaders: values,
    requestContext: z.object({ domainName: z.string() }),
    body: z.string().nullish(),
    isBase64Encoded: z.boolean().default(false),
  })
  .transform((event): HttpEvent => ({
    rawPath: event.path,
    cookies: [],
    rawQueryString: toQueryString(event.multiValueQueryStringParameters ?? {}),
    headers: Object.fromEntries(
      Object.entries(event.multiValueHeaders ?? {}).map(([name, all]) => [name.toLowerCase(), all.join(',')]),
    ),
    requestContext: {
      domainName: event.requestContext.domainName,
      http: { method: event.httpMethod },
    },
    body: event.body,
    isBase64Encoded: event.isBase64Encoded,
  }));

/** Request of an origin that streams: a function URL (format 2.0) or a REST API (1.0). Both read as format 2.0. */
export const streamEventSchema = z.union([httpEventSchema, restEventSchema]);

/** Encodes the parameters again, because a REST API has decoded them. */
function toQueryString(parameters: Record<string, string[]>): string {
  return new URLSearchParams(
    Object.entries(parameters).flatMap(([name, all]) => all.map((value): [string, string] => [name, value])),
  ).toString();
}

/**
 * Converts an event to a `Request`. Throws `TypeError` for an invalid one: a method that `fetch` forbids, a header
 * with a line break.
 */
export function toRequest(event: HttpEvent): Request {
  const { method } = event.requestContext.http;
  const query = event.rawQueryString === '' ? '' : `?${event.rawQueryString}`;
  const hasBody = typeof event.body === 'string' && event.body !== '' && !bodiless.has(method);
  return new Request(`https://${event.requestContext.domainName}${toPath(event)}${query}`, {
    method,
    headers: toHeaders(event),
    ...(hasBody && { body: toBody(event) }),
  });
}

const bodiless = new Set(['GET', 'HEAD']);

/** Encodes the delimiters again, because API Gateway has decoded the path. */
function toPath({ rawPath }: HttpEvent): string {
  return rawPath.replaceAll('?', '%3F').replaceAll('#', '%23');
}

/** Decodes bytes above ASCII as one character each, like Node's HTTP server. */
function toHeaders({ headers, cookies }: HttpEvent): Headers {
  const all = cookies.length === 0 ? headers : { ...headers, cookie: cookies.join('; ') };
  return new Headers(
    Object.entries(all).map(([name, value]): [string, string] => [
      name,
      Buffer.from(value, 'utf8').toString('latin1'),
    ]),
  );
}

function toBody({ body, isBase64Encoded }: HttpEvent): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'));
}
