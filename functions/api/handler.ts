import type { Context } from 'aws-lambda';
import { httpEventSchema } from '../../adapters/aws/http/http-event.ts';
import { outOfTime } from '../../adapters/aws/http/http-function.ts';
import { toHttpResult, type HttpResult } from '../../adapters/aws/http/http-result.ts';
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
