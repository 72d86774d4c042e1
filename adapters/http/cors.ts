import { cors } from 'hono/cors';
import { noticeHeader } from './endpoint-response.ts';
import { modelUsageHeaders } from './model-usage-headers.ts';

/** Seconds for which a browser keeps the answer to a preflight request. */
const maxAgeSeconds = 600;

/**
 * Allows pages of these origins to call the API (https://fetch.spec.whatwg.org/#http-cors-protocol). Answers preflight
 * requests, which have no key. Without origins, a browser lets no other page read a response.
 */
export function allowOrigins({ allowedOrigins }: { allowedOrigins: readonly string[] }) {
  return cors({
    origin: (origin) => (allowedOrigins.includes(origin) ? origin : null),
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      'Accept',
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'Last-Event-ID',
      'Mcp-Protocol-Version',
      'X-Service-Internal',
    ],
    exposeHeaders: [
      'Content-Location',
      'Content-Range',
      'ETag',
      'Retry-After',
      noticeHeader,
      ...modelUsageHeaders,
    ],
    maxAge: maxAgeSeconds,
  });
}

/** Returns true for an origin as browsers send it: scheme, host and port, without a path. */
export function isOrigin(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '') && URL.parse(text)?.origin === text;
}
