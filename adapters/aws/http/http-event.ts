import { z } from 'zod';

/** Used part of a request in payload format 2.0, as sent by the HTTP API and by function URLs. */
export const httpEventSchema = z.object({
  rawPath: z.string(),
  rawQueryString: z.string().default(''),
  /** Header names in lower case. Repeated headers are joined by commas. */
  headers: z.record(z.string(), z.string()).default({}),
  requestContext: z.object({ domainName: z.string(), http: z.object({ method: z.string() }) }),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
});
/** Request in payload format 2.0. */
export type HttpEvent = z.output<typeof httpEventSchema>;

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
function toHeaders({ headers }: HttpEvent): Headers {
  return new Headers(
    Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      Buffer.from(value, 'utf8').toString('latin1'),
    ]),
  );
}

function toBody({ body, isBase64Encoded }: HttpEvent): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'));
}
