import { createDecipheriv } from 'node:crypto';
import { StreamFetchError } from '../../../../core/errors.ts';
import type { CookieJar } from '../../../egress/cookies.ts';
import type { GuardedHttp } from '../../../egress/guarded-http.ts';
import { webStreamError, httpStatusError, StatusError, type ResourceKind } from '../../web/fetch-failure.ts';
import { plainPackets } from '../../mpeg-ts/packet.ts';
import { createWholeUnits } from '../../mpeg-ts/whole-units.ts';
import { isPackedAudio } from './segment-format.ts';
import { hasPackets } from '../../web/sniff-content.ts';
import type { Resource, Segment, SegmentKey } from '../playlist/playlist.ts';
import { isOver } from '../../../../core/time.ts';
import { createFairByteCache, ownBytes } from '../../../byte-cache.ts';

export type SegmentFetcher = {
  http: GuardedHttp;
  captureBytes: number;
  requestTimeoutMs: number;
  cookies?: CookieJar | undefined;
  /** Cache of keys and media initialization sections. If absent, each capture fetches its own. */
  resources?: ResourceCache;
  /** Called with the size of each decoded chunk that arrives, also of what is cut or refused. */
  onBytes?: (bytes: number) => void;
};

/**
 * The playlist lists a segment that its server does not return (yet, or any more). Some servers respond with 403
 * instead of 404.
 */
export class SegmentMissingError extends StreamFetchError {
  override name = 'SegmentMissingError';
  readonly sequence: bigint;

  constructor(sequence: bigint, cause: StatusError) {
    super(cause.remediation, cause.message, { cause });
    this.sequence = sequence;
  }
}

/**
 * Yields the decrypted bytes of contiguous segments in order, the media initialization section first. All requests
 * start concurrently, because round trips cost more than bytes. Pictures of which packets are missing are left out, and
 * reported to `onDamage`. Throws `StreamFetchError` and `InvalidUrlError`.
 */
export async function* fetchSegments(
  fetcher: SegmentFetcher,
  segments: Segment[],
  signal: AbortSignal,
  onDamage: () => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  const [first] = segments;
  const limitBytes = Math.floor(fetcher.captureBytes / (segments.length + 1));
  const keys = new Map<string, Promise<Uint8Array>>();
  const parts: Promise<Uint8Array>[] = [];
  if (first?.initialization) parts.push(fetchInitialization(first.initialization, first));
  for (const segment of segments) parts.push(fetchSegment(segment));
  // The reader stops at the first failure. Later rejections must not be reported as unhandled.
  for (const part of parts) part.catch(() => {});
  const units = createWholeUnits();
  for (const part of parts) {
    const bytes = plainPackets(await part);
    const whole = hasPackets(bytes) ? await units.readInTurns(bytes) : wholeBoxes(bytes);
    if (units.isDamaged() || (whole.length < bytes.length && !hasPackets(bytes))) onDamage();
    yield whole;
  }

  async function fetchSegment(segment: Segment): Promise<Uint8Array> {
    const [key, bytes] = await Promise.all([
      keyBytes(segment.key),
      fetchBytes(segment, 'segment', limitBytes).catch((error: unknown) => {
        throw error instanceof StatusError ? new SegmentMissingError(segment.sequence, error) : error;
      }),
    ]);
    return key === null ? bytes : decrypt(bytes, key, initializationVector(segment));
  }

  /** Detects encryption by content: by the tags, it depends on the order of EXT-X-KEY and EXT-X-MAP. */
  async function fetchInitialization(resource: Resource, segment: Segment): Promise<Uint8Array> {
    const [key, bytes] = await Promise.all([
      keyBytes(segment.key),
      fetchOnce(resource, 'segment', limitBytes),
    ]);
    return key === null || isIsoMedia(bytes) ? bytes : decrypt(bytes, key, initializationVector(segment));
  }

  async function keyBytes(key: SegmentKey | null): Promise<Uint8Array | null> {
    if (key === null) return null;
    if (key.method === 'unsupported') throw drmError();
    const cached = keys.get(key.url);
    const bytes = cached ?? fetchOnce({ url: key.url, byteRange: null }, 'key', 1024);
    keys.set(key.url, bytes);
    return bytes;
  }

  async function fetchOnce(resource: Resource, what: ResourceKind, maxBytes: number): Promise<Uint8Array> {
    const fetch = (): Promise<Uint8Array> => fetchBytes(resource, what, maxBytes);
    return fetcher.resources ? fetcher.resources.get(resource, fetch) : fetch();
  }

  async function fetchBytes(resource: Resource, what: ResourceKind, maxBytes: number): Promise<Uint8Array> {
    const { byteRange } = resource;
    const headers = byteRange === null ? {} : { range: rangeHeader(byteRange.offset, byteRange.length) };
    const { requestTimeoutMs: timeoutMs, cookies, onBytes } = fetcher;
    const options = { headers, maxBytes, timeoutMs, cookies, signal, ...(onBytes && { onChunk: onBytes }) };
    const response = await fetcher.http.request(resource.url, options).catch((error: unknown) => {
      throw webStreamError(error, what);
    });
    if (response.status === 206 && byteRange !== null) return response.body.subarray(0, byteRange.length);
    if (response.status !== 200) throw httpStatusError(response.status, what);
    // A server without range support sends the whole resource.
    if (byteRange === null) return response.body;
    return response.body.slice(byteRange.offset, byteRange.offset + byteRange.length);
  }
}

export function drmError(): StreamFetchError {
  return new StreamFetchError(
    'The stream is protected by DRM. Use a stream without encryption or with AES-128.',
  );
}

function rangeHeader(offset: number, length: number): string {
  return `bytes=${offset}-${offset + length - 1}`;
}

function isIsoMedia(bytes: Uint8Array): boolean {
  return ['ftyp', 'styp', 'moov'].includes(Buffer.from(bytes.subarray(4, 8)).toString('latin1'));
}

/** Returns the initialization vector. By default it is the media sequence number (RFC 8216, 5.2). */
function initializationVector(segment: Segment): Uint8Array {
  if (segment.key?.method === 'AES-128' && segment.key.iv !== null) return segment.key.iv;
  const iv = Buffer.alloc(16);
  // A media sequence number may be negative or exceed 64 bits.
  iv.writeBigUInt64BE(BigInt.asUintN(64, segment.sequence), 8);
  return iv;
}

const blockBytes = 16;

/**
 * Decrypts whole blocks: some servers write a line end behind a key, omit the padding, or send bytes behind the last
 * block.
 */
function decrypt(bytes: Uint8Array, key: Uint8Array, iv: Uint8Array): Uint8Array {
  try {
    const decipher = createDecipheriv('aes-128-cbc', key.subarray(0, blockBytes), iv);
    decipher.setAutoPadding(false);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % blockBytes));
    const plain = Buffer.concat([decipher.update(whole), decipher.final()]);
    return requireMedia(plain.subarray(0, plain.length - countPadding(plain)));
  } catch (cause) {
    throw new StreamFetchError(
      'A segment cannot be decrypted with the key of the playlist. Check that the stream plays in a video player.',
      undefined,
      { cause },
    );
  }
}

/** Returns 0 for bytes without padding. */
function countPadding(plain: Buffer): number {
  const count = plain.at(-1) ?? 0;
  const isPadding =
    count >= 1 && count <= blockBytes && plain.subarray(-count).every((byte) => byte === count);
  return isPadding ? count : 0;
}

/** With another key, the bytes are noise. */
function requireMedia(plain: Buffer): Buffer {
  const isBox = /^[a-z]{4}$/i.test(plain.toString('latin1', 4, 8));
  const isMedia = isBox || hasPackets(plain.subarray(0, 1024)) || isPackedAudio(plain);
  if (!isMedia) throw new Error('No media in the decrypted bytes');
  return plain;
}

const headBytes = 8;

/**
 * Returns fragmented MP4 up to its last whole fragment. Bytes that were lost are no error of a decoder in every case;
 * but then the length of a box (ISO/IEC 14496-12, 4.2) leads beyond the end, or to what is no box. Returns other bytes
 * as they are.
 */
export function wholeBoxes(bytes: Uint8Array): Uint8Array {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!/^(?:ftyp|styp|moof|sidx|emsg|prft)$/.test(readType(view, 0))) return bytes;
  let whole = 0;
  for (let offset = 0; offset + headBytes <= view.length;) {
    const size = readSize(view, offset);
    const end = offset + size;
    const isLast = end + headBytes > view.length;
    if (size === 0) return bytes;
    if (end > view.length || (!isLast && !/^[\w ]{4}$/.test(readType(view, end)))) break;
    // Media belong to the box before.
    if (readType(view, offset) !== 'moof') whole = isLast ? bytes.length : end;
    offset = end;
  }
  return bytes.subarray(0, whole);
}

function readType(view: Buffer, offset: number): string {
  return view.toString('latin1', offset + 4, offset + headBytes);
}

/** Returns 0 for a box up to the end. */
function readSize(view: Buffer, offset: number): number {
  const size = view.readUInt32BE(offset);
  if (size === 1 && offset + 2 * headBytes <= view.length)
    return Number(view.readBigUInt64BE(offset + headBytes));
  return size === 0 ? 0 : Math.max(headBytes, size);
}

/**
 * Cache of keys and media initialization sections of one stream of a caller: every capture needs them, and they rarely
 * change under one URL. A failed capture evicts the entries it used, because some servers write a new key to the same
 * URL.
 */
export type ResourceCache = {
  /** Returns the cached bytes, else those of `fetch`. Failures are not cached. */
  get(resource: Resource, fetch: () => Promise<Uint8Array>): Promise<Uint8Array>;
  delete(resource: Resource): void;
};

/** Maximum size of an entry, in bytes. A media initialization section has about 1 kB, a key 16 bytes. */
const maxEntryBytes = 64 * 1024;
const maxBytes = 16 * 1024 * 1024;

/**
 * Creates the caches of streams, of at most `max` entries together. What a server gave to the cookies of one caller or
 * stream is not for another. An entry expires `keepMs` after it was fetched, and if the clock is set back.
 */
export function createResourceCache(options: {
  now: () => Date;
  max: number;
  keepMs: number;
}): (caller: string, url: string) => ResourceCache {
  const entries = createFairByteCache<{ bytes: Uint8Array; fetchedAt: Date }>({
    name: 'keys and initialization sections',
    max: options.max,
    maxBytes,
  });
  return (caller, url) => ({
    async get(resource, fetch) {
      const key = toKey(resource, url);
      const cached = entries.get(caller, key);
      if (cached !== undefined && !isOver(cached.fetchedAt, options.keepMs / 1000, options.now()))
        return cached.bytes;
      // A server without byte ranges sends more than the section.
      const bytes = ownBytes(await fetch());
      if (bytes.length <= maxEntryBytes) entries.set(caller, key, { bytes, fetchedAt: options.now() });
      return bytes;
    },
    delete: (resource) => entries.delete(caller, toKey(resource, url)),
  });
}

function toKey({ url, byteRange }: Resource, stream: string): string {
  return JSON.stringify([stream, url, byteRange]);
}
