import type { Context } from 'aws-lambda';
import { httpEventSchema } from '../../adapters/aws/http/http-event.ts';
import { toHttpResult } from '../../adapters/aws/http/http-result.ts';
import type { HttpResult } from '../../adapters/aws/http/http-result.ts';
import type { ApiFunctionDeps } from './dependencies.ts';

/** Creates the handler of the HTTP API (payload format 2.0). */
export function createHandler({ respond, during }: ApiFunctionDeps) {
  return (event: unknown, context: Context): Promise<HttpResult> =>
    during(context, async () => toHttpResult(await respond(httpEventSchema.parse(event))));
}
