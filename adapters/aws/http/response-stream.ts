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
    await pipeline(response.body === null ? Readable.from([]) : Readable.fromWeb(response.body), output);
  } catch (error) {
    if (!readerLeft || !isClosed(error)) throw error;
  }
}

const closed = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && closed.has(String(error.code));
}
