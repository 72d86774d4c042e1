import { streamEventSchema } from '../../adapters/aws/http/http-event.ts';
import { streamResponse, type StreamingRuntime } from '../../adapters/aws/http/response-stream.ts';
import type { StreamFunctionDeps } from './dependencies.ts';

/** Creates the handler of the origin that streams, which streams its response. */
export function createHandler({ respond, during }: StreamFunctionDeps, runtime: StreamingRuntime) {
  return runtime.streamifyResponse((event, stream, context) =>
    during(context, async () =>
      streamResponse(await respond(streamEventSchema.parse(event)), stream, runtime),
    ),
  );
}
