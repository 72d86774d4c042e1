import type { Context } from 'aws-lambda';
import { httpEventSchema } from '../../adapters/aws/http/http-event.ts';
import { outOfTime } from '../../adapters/aws/http/http-function.ts';
import { waitAtMost } from '../../core/time-limit.ts';
import type { ApiFunctionDeps } from './dependencies.ts';

/** Time that remains for the response of a request that takes too long, in milliseconds. */
const responseMs = 1_000;

/**
 * Creates the handler of the HTTP API (payload format 2.0). Responds before Lambda would end the invocation, without an
 * error envelope.
 */
export function createHandler({ respond, during, setTimer }: ApiFunctionDeps) {
  return (event: unknown, context: Context): Promise<HttpResult> =>
    during(context, async () => {
      const work = respond(httpEventSchema.parse(event));
      const availableMs = context.getRemainingTimeInMillis() - responseMs;
      return toHttpResult(await waitAtMost(availableMs, work, outOfTime, setTimer));
    });
}

/** Response in payload format 2.0. */
type HttpResult = {
  statusCode: number;
  headers: Record<string, string>;
  cookies: string[];
  body: string;
  isBase64Encoded: boolean;
};

/** Converts a `Response`. Bodies that are not text or JSON are base64. */
export async function toHttpResult(response: Response): Promise<HttpResult> {
  const { 'set-cookie': _, ...headers } = Object.fromEntries(response.headers);
  const body = Buffer.from(await response.arrayBuffer());
  const isText = textual.test(response.headers.get('content-type') ?? 'text/plain');
  return {
    statusCode: response.status,
    headers,
    cookies: response.headers.getSetCookie(),
    body: body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

const textual = /^(?:text\/|application\/json)/i;
