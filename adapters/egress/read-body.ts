import { pipeline, Readable, Transform } from 'node:stream';
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
} from 'node:zlib';
import { EgressLimitError, EgressNetworkError } from './errors.ts';

/**
 * Reads and decodes a body of at most `maxBytes` decoded bytes. Destroys it beyond that, which stops a
 * decompression bomb early. Throws `EgressLimitError`, `EgressNetworkError`, and the errors of
 * the streams.
 */
export async function readBody(
  body: Readable,
  headers: Record<string, string>,
  maxBytes: number,
  onChunk?: (bytes: number) => void,
): Promise<Uint8Array> {
  if (Number(headers['content-length'] ?? 0) > rawLimit(maxBytes)) {
    body.destroy();
    throw tooLarge();
  }
  return collectBytes(decodeBody(body, headers, maxBytes), maxBytes, onChunk);
}

/**
 * Reads a body of at most `maxBytes`. Throws `EgressLimitError` beyond that, which ends the body, and the errors of the
 * stream.
 */
export async function collectBytes(
  body: AsyncIterable<unknown>,
  maxBytes: number,
  onChunk?: (bytes: number) => void,
): Promise<Uint8Array> {
  // A transfer frees the former memory, which a list of chunks would hold until the garbage collection.
  let collected = new ArrayBuffer(0);
  let bytes = 0;
  try {
    // An error in the loop destroys the stream and its connection.
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) throw new EgressNetworkError('Response is not bytes');
      const offset = bytes;
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      onChunk?.(chunk.byteLength);
      if (bytes > collected.byteLength) collected = collected.transfer(Math.min(2 * bytes, maxBytes));
      new Uint8Array(collected).set(chunk, offset);
    }
    return new Uint8Array(collected.transfer(bytes));
  } catch (error) {
    collected.transfer(0);
    throw error;
  }
}

/**
 * Returns a body without its content encoding, of at most about `maxBytes` encoded bytes. With an unknown encoding, its
 * bytes decide.
 */
export function decodeBody(body: Readable, headers: Record<string, string>, maxBytes: number): Readable {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return body;
  return Readable.from(decodeByStart(body, encoding, maxBytes));
}

async function* decodeByStart(body: Readable, encoding: string, maxBytes: number): AsyncGenerator {
  const chunks: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  const source = async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  const decoder = first.value instanceof Uint8Array ? decoderFor(encoding, first.value) : null;
  if (decoder === null) return yield* source();
  // Without the callback, `pipeline` throws an unhandled error. The reader receives the error from the decoder.
  yield* pipeline(Readable.from(source()), limitRaw(rawLimit(maxBytes)), decoder, () => undefined);
}

/** Servers state encodings that do not exist, or that the body does not have: where bytes can show one, they decide. */
function decoderFor(encoding: string, start: Uint8Array): Transform | null {
  if (encoding === 'br') return beginsBrotli(start) ? createBrotliDecompress() : null;
  const [first = 0, second = 0] = start;
  if (first === 0x1f && second === 0x8b) return createGunzip();
  const isDeflated = (first & 0xf) === 8 && (256 * first + second) % 31 === 0;
  return encoding === 'deflate' && isDeflated ? createInflate() : null;
}

/** Brotli has no mark at its start: other bytes decode to nothing. */
function beginsBrotli(start: Uint8Array): boolean {
  const limits = { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength: 65_536 };
  try {
    return brotliDecompressSync(start.subarray(0, 1024), limits).length > 0;
  } catch (error) {
    return error instanceof RangeError;
  }
}

/** Limits encoded bytes, which may never decode to a single byte (empty blocks). */
function limitRaw(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) done(tooLarge());
      else done(null, chunk);
    },
  });
}

/** Encoding adds a few bytes to incompressible data. */
function rawLimit(maxBytes: number): number {
  return maxBytes + 1024;
}

function tooLarge(): EgressLimitError {
  return new EgressLimitError('Response is larger than allowed');
}
