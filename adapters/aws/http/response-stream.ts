import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from 'aws-lambda';

/** Streaming API of Lambda's Node runtime (the global `awslambda`). */
export type StreamingRuntime = {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  HttpResponseStream: { from(stream: Writable, metadata: HttpMetadata): Writable };
};

type StreamingHandler = (event: unknown, stream: Writable, context: Context) => Promise<void>;

type HttpMetadata = { statusCode: number; headers: Record<string, string> };

/**
 * Sends each part of a response when it is produced. A disconnected reader ends the response body and is no error. An
 * interrupted response fails the invocation, so that the reader detects the truncation.
 */
export async function streamResponse(
  response: Response,
  stream: Writable,
  { HttpResponseStream }: Pick<StreamingRuntime, 'HttpResponseStream'>,
): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  const output = HttpResponseStream.from(stream, { statusCode: response.status, headers });
  // The runtime sends status and headers with the first bytes, even for an empty body.
  output.write('');
  let readerLeft = false;
  output.once('close', () => {
    readerLeft = !output.writableFinished;
  });
  try {
    await pipeline(response.body === null ? Readable.from([]) : toReadable(response.body), output);
  } catch (error) {
    if (!readerLeft || !isClosed(error)) throw error;
  }
}

/**
 * Reads a chunk after the previous one was taken. A disconnected reader ends the body immediately, also while it
 * waits for the next chunk.
 */
function toReadable(body: ReadableStream<Uint8Array>): Readable {
  const reader = body.getReader();
  return new Readable({
    highWaterMark: 1,
    async read() {
      try {
        const { done, value } = await reader.read();
        this.push(done ? null : value);
      } catch (error) {
        this.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    },
    destroy(error, callback) {
      void cancel(reader);
      callback(error);
    },
  });
}

async function cancel(reader: ReadableStreamDefaultReader): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // A body that has failed needs no cancellation.
  }
}

const closed = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && closed.has(String(error.code));
}
