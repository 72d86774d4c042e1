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

/** Beginning by which an encoding is known, in bytes: Brotli can begin with tables of more than a kilobyte. */
const maxBeginBytes = 65_536;

async function* decodeByStart(body: Readable, encoding: string, maxBytes: number): AsyncGenerator {
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  const begin: Uint8Array[] = [];
  let decoder: Transform | null | undefined;
  // Each look reads from the beginning, so there is one more at twice the bytes only.
  for (let [bytes, nextLook] = [0, 2]; decoder === undefined;) {
    const next = await chunks.next();
    if (!next.done) begin.push(next.value);
    bytes += next.done ? 0 : next.value.byteLength;
    const isWhole = next.done === true || bytes >= maxBeginBytes;
    if (!isWhole && bytes < nextLook) continue;
    nextLook = 2 * bytes;
    decoder = decoderFor(encoding, Buffer.concat(begin), isWhole);
  }
  const source = async function* () {
    yield* begin;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  if (decoder === null) return yield* source();
  // Without the callback, `pipeline` throws an unhandled error. The reader receives the error from the decoder.
  yield* pipeline(Readable.from(source()), limitRaw(rawLimit(maxBytes)), decoder, () => undefined);
}

/**
 * Servers state encodings that do not exist, or that the body does not have: where bytes can show one, they decide.
 * Returns `null` for a body without encoding, and undefined if more bytes are needed.
 */
function decoderFor(encoding: string, begin: Uint8Array, isWhole: boolean): Transform | null | undefined {
  if (encoding === 'br') {
    const isBrotli = beginsBrotli(begin) ?? (isWhole ? false : undefined);
    return isBrotli === undefined ? undefined : isBrotli ? createBrotliDecompress() : null;
  }
  const [first = 0, second = 0] = begin;
  if (first === 0x1f && second === 0x8b) return createGunzip();
  const isDeflated = (first & 0xf) === 8 && (256 * first + second) % 31 === 0;
  return encoding === 'deflate' && isDeflated ? createInflate() : null;
}

/** Brotli has no mark at its start: other bytes are an error. Returns undefined if nothing can be decoded yet. */
function beginsBrotli(begin: Uint8Array): boolean | undefined {
  const limits = { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength: maxBeginBytes };
  try {
    return brotliDecompressSync(begin, limits).length > 0 || undefined;
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
