import { createDecipheriv } from 'node:crypto';
import { StreamFetchError } from '../../../core/errors.ts';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { fetchFailure, statusFailure, StatusError, type Fetched } from './fetch-failure.ts';
import type { Resource, Segment, SegmentKey } from './playlist.ts';
import type { ResourceMemory } from './resource-memory.ts';

export type SegmentFetcher = {
  http: GuardedHttp;
  captureBytes: number;
  requestTimeoutMs: number;
  /** Of keys and init sections; without it each capture fetches its own. */
  resources?: ResourceMemory;
};

/** The playlist names a segment that its server does not have (yet, or any more), or does not give out: some answer 403 for what is not there. */
export class SegmentMissingError extends StreamFetchError {
  readonly sequence: bigint;

  constructor(sequence: bigint, cause: StatusError) {
    super(cause.remediation, cause.message, { cause });
    this.sequence = sequence;
  }
}

/**
 * The bytes of segments of one piece, in order and decrypted, the init section first. All requests leave at once:
 * over a distance round trips cost more than bytes. Throws `StreamFetchError` and `InvalidUrlError`.
 */
export async function* fetchSegments(
  fetcher: SegmentFetcher,
  segments: Segment[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const [first] = segments;
  const limitBytes = Math.floor(fetcher.captureBytes / (segments.length + 1));
  const keys = new Map<string, Promise<Uint8Array>>();
  const parts: Promise<Uint8Array>[] = [];
  if (first?.initialization) parts.push(fetchInitialization(first.initialization, first));
  for (const segment of segments) parts.push(fetchSegment(segment));
  // Whoever reads stops at the first that fails: the others must not fail unheard.
  for (const part of parts) part.catch(() => {});
  for (const part of parts) yield await part;

  async function fetchSegment(segment: Segment): Promise<Uint8Array> {
    const [key, bytes] = await Promise.all([
      keyBytes(segment.key),
      fetchBytes(segment, 'segment', limitBytes).catch((error: unknown) => {
        throw error instanceof StatusError ? new SegmentMissingError(segment.sequence, error) : error;
      }),
    ]);
    return key === null ? bytes : decrypt(bytes, key, ivOf(segment));
  }

  /** Whether the key that is in force covers the init section depends on the order of tags; the bytes tell it more simply. */
  async function fetchInitialization(resource: Resource, first: Segment): Promise<Uint8Array> {
    const [key, bytes] = await Promise.all([keyBytes(first.key), fetchOnce(resource, 'segment', limitBytes)]);
    return key === null || isIsoMedia(bytes) ? bytes : decrypt(bytes, key, ivOf(first));
  }

  async function keyBytes(key: SegmentKey | null): Promise<Uint8Array | null> {
    if (key === null) return null;
    if (key.method === 'unsupported') throw protectedStream();
    const known = keys.get(key.url);
    const bytes = known ?? fetchOnce({ url: key.url, byteRange: null }, 'key', 1024);
    keys.set(key.url, bytes);
    return bytes;
  }

  async function fetchOnce(resource: Resource, what: Fetched, maxBytes: number): Promise<Uint8Array> {
    const fetch = (): Promise<Uint8Array> => fetchBytes(resource, what, maxBytes);
    return fetcher.resources ? fetcher.resources.get(resource, fetch) : fetch();
  }

  async function fetchBytes(resource: Resource, what: Fetched, maxBytes: number): Promise<Uint8Array> {
    const { byteRange } = resource;
    const headers = byteRange === null ? {} : { range: rangeHeader(byteRange.offset, byteRange.length) };
    const options = { headers, maxBytes, timeoutMs: fetcher.requestTimeoutMs, signal };
    const response = await fetcher.http.request(resource.url, options).catch((error: unknown) => {
      throw fetchFailure(error, what);
    });
    if (response.status === 206 && byteRange !== null) return response.body.subarray(0, byteRange.length);
    if (response.status !== 200) throw statusFailure(response.status, what);
    // A server that knows no ranges sends all of it.
    if (byteRange === null) return response.body;
    return response.body.subarray(byteRange.offset, byteRange.offset + byteRange.length);
  }
}

export function protectedStream(): StreamFetchError {
  return new StreamFetchError('The stream is protected (DRM). Use one without, or with AES-128 encryption.');
}

function rangeHeader(offset: number, length: number): string {
  return `bytes=${offset}-${offset + length - 1}`;
}

function isIsoMedia(bytes: Uint8Array): boolean {
  return ['ftyp', 'styp', 'moov'].includes(Buffer.from(bytes.subarray(4, 8)).toString('latin1'));
}

/** Without an explicit one, the initialization vector is the media sequence number (RFC 8216, 5.2). */
function ivOf(segment: Segment): Uint8Array {
  if (segment.key?.method === 'AES-128' && segment.key.iv !== null) return segment.key.iv;
  const iv = Buffer.alloc(16);
  // A playlist may count from below zero, or beyond 64 bits.
  iv.writeBigUInt64BE(BigInt.asUintN(64, segment.sequence), 8);
  return iv;
}

function decrypt(bytes: Uint8Array, key: Uint8Array, iv: Uint8Array): Uint8Array {
  try {
    const decipher = createDecipheriv('aes-128-cbc', key, iv);
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch (cause) {
    throw new StreamFetchError(
      'A segment cannot be decrypted with the key that the playlist names. Check that the stream plays in a video player.',
      undefined,
      { cause },
    );
  }
}
