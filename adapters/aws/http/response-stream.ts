import { Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from 'aws-lambda';

/** What Lambda's Node runtime offers to handlers that stream (`awslambda`, a global of its process). */
export type StreamingRuntime = {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  HttpResponseStream: { from(stream: Writable, metadata: HttpMetadata): Writable };
};

type StreamingHandler = (event: unknown, stream: Writable, context: Context) => Promise<void>;

type HttpMetadata = { statusCode: number; headers: Record<string, string> };

/**
 * Sends an answer as it comes. A reader that leaves ends the answer's own stream, and is no failure of the invocation; an answer that breaks off is
 * one, so that the reader sees it cut and not complete.
 */
export async function streamResponse(
  response: Response,
  stream: Writable,
  { HttpResponseStream }: Pick<StreamingRuntime, 'HttpResponseStream'>,
): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  const output = HttpResponseStream.from(stream, { statusCode: response.status, headers });
  // The runtime sends status and headers with the first bytes, also where there are none to send.
  output.write('');
  let readerLeft = false;
  output.once('close', () => {
    readerLeft = !output.writableFinished;
  });
  try {
    await pipeline(response.body === null ? Readable.from([]) : readableOf(response.body), output);
  } catch (error) {
    if (!readerLeft || !isClosed(error)) throw error;
  }
}

/** A chunk is made when the one before was taken. A reader that leaves ends it at once, also in the middle of a wait for the next chunk. */
function readableOf(body: ReadableStream<Uint8Array>): Readable {
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
    // What failed by itself needs no end.
  }
}

const closed = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && closed.has(String(error.code));
}
