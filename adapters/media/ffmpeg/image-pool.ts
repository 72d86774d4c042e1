import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { waitUntilAborted } from '../../../core/time-limit.ts';
import { createFairCache } from '../../fair-cache.ts';
import { decodeFilter, type ImageDecoder, type ImageFit, type ImageSize } from './decode-image.ts';
import { startImageProcess, type ImageProcess } from './image-process.ts';
import type { InTurn } from './in-turn.ts';
import { readSingleJpeg } from './single-jpeg.ts';

export type ImagePoolDeps = {
  ffmpegPath: string;
  /**
   * Decodes in a process per call: clips, JPEGs that may be several pictures, and those on which the process that stays
   * failed.
   */
  alone: ImageDecoder;
  /** Creates the turns of the process of one size, one at a time. */
  createTurns: () => InTurn;
  /** Returns the steady time in milliseconds. */
  elapsedMs: () => number;
  /** Returns for whom a picture is. Default: one caller for all. */
  currentCaller?: (() => string) | undefined;
};

/** Pictures of one process, after which another one takes its place. */
const maxPictures = 2_000;
const keepIdleMs = 65_000;
const maxDecodeMs = 3_000;
/**
 * Time until a process is started again after one without a picture. It doubles up to the second one: a busy machine is
 * slow for a while, and some builds of ffmpeg return no picture in time, ever.
 */
const [firstPauseMs, maxPauseMs] = [60_000, 3_600_000];
/** Sizes in use: measurements have one, the object detector another. */
const maxSizes = 3;
/** Decoded pictures that jobs share, which judge the same frame. */
const maxShared = 8;

/**
 * Returns a decoder that decodes JPEGs in one process per size that stays, one JPEG at a time, and keeps the newest
 * pictures: jobs on the same stream judge the same frame. Starting ffmpeg takes ten times as long as decoding. A JPEG
 * that is not exactly one picture, such as an upload may be, is decoded in a process of its own. The pictures must not
 * be changed.
 */
export function poolImageDecoders({
  ffmpegPath,
  alone,
  createTurns,
  elapsedMs,
  currentCaller = () => '',
}: ImagePoolDeps): ImageDecoder {
  const members = new LRUCache<string, Member>({ max: maxSizes, dispose: (member) => member.close() });
  const shared = createFairCache<string, Promise<Uint8Array | null>>({ max: maxShared });
  /** Hashes of the JPEGs in use: jobs that share a capture have the same array, which must not be changed. */
  const hashes = new WeakMap<Uint8Array, string>();
  return {
    decode: async (jpeg, size, signal) =>
      (await decodePooled(jpeg, size, 'stretched', signal)) ?? alone.decode(jpeg, size, signal),
    decodeAll: async (jpegs, size, signal, fit) => {
      const pictures = await decodeEachPooled(jpegs, size, signal, fit);
      return pictures.every((picture) => picture !== null)
        ? pictures
        : alone.decodeAll(jpegs, size, signal, fit);
    },
    decodeEach: async (jpegs, size, signal, fit) => {
      const pictures = await decodeEachPooled(jpegs, size, signal, fit);
      return pictures.every((picture) => picture !== null)
        ? pictures
        : alone.decodeEach(jpegs, size, signal, fit);
    },
    decodeClip: alone.decodeClip,
  };

  async function decodeEachPooled(
    jpegs: Uint8Array[],
    size: ImageSize,
    signal: AbortSignal,
    fit: ImageFit = 'stretched',
  ): Promise<(Uint8Array | null)[]> {
    const pictures: (Uint8Array | null)[] = [];
    for (const jpeg of jpegs) {
      const picture = await decodePooled(jpeg, size, fit, signal);
      pictures.push(picture);
      if (picture === null) break;
    }
    return pictures;
  }

  async function decodePooled(
    jpeg: Uint8Array,
    size: ImageSize,
    fit: ImageFit,
    signal: AbortSignal,
  ): Promise<Uint8Array | null> {
    signal.throwIfAborted();
    const filter = decodeFilter(size, fit);
    const key = `${filter} ${findHash(jpeg)}`;
    const caller = currentCaller();
    let picture = shared.get(caller, key);
    if (picture === undefined) {
      const single = readSingleJpeg(jpeg);
      if (single === null) return null;
      picture = findMember(filter, size).decode(single);
      shared.set(caller, key, picture);
      const forget = () => void shared.delete(caller, key);
      picture.then((found) => found ?? forget(), forget);
    }
    return waitUntilAborted(picture, signal);
  }

  function findHash(jpeg: Uint8Array): string {
    const hash = hashes.get(jpeg) ?? createHash('sha256').update(jpeg).digest('base64');
    hashes.set(jpeg, hash);
    return hash;
  }

  function findMember(filter: string, { width, height }: ImageSize): Member {
    const existing = members.get(filter);
    if (existing) return existing;
    const start = () => startImageProcess(ffmpegPath, filter, width * height * 3);
    const member = createMember(start, createTurns(), elapsedMs);
    members.set(filter, member);
    return member;
  }
}

const never = new AbortController().signal;

type Member = { decode(jpeg: Uint8Array): Promise<Uint8Array | null>; close(): void };

/** Creates a decoder of one size. Its process starts with the first JPEG, and again after a failure. */
function createMember(start: () => ImageProcess, inTurn: InTurn, elapsedMs: () => number): Member {
  let process: ImageProcess | undefined;
  let pictures = 0;
  let pausedUntilMs = -Infinity;
  let nextPauseMs = firstPauseMs;
  let idleTimer: NodeJS.Timeout | undefined;
  return {
    // Jobs that share a picture wait for it together: none of them ends it.
    decode: (jpeg) => inTurn(() => decodeNow(jpeg), never),
    close: dismiss,
  };

  async function decodeNow(jpeg: Uint8Array): Promise<Uint8Array | null> {
    if (elapsedMs() < pausedUntilMs) return null;
    clearTimeout(idleTimer);
    if (process === undefined || process.hasEnded() || pictures >= maxPictures) {
      dismiss();
      process = start();
      pictures = 0;
    }
    pictures += 1;
    const picture = await process.decode(jpeg, maxDecodeMs);
    if (process.works()) {
      nextPauseMs = firstPauseMs;
      idleTimer = setTimeout(dismiss, keepIdleMs).unref();
    } else {
      pausedUntilMs = elapsedMs() + nextPauseMs;
      nextPauseMs = Math.min(2 * nextPauseMs, maxPauseMs);
    }
    return picture;
  }

  function dismiss(): void {
    clearTimeout(idleTimer);
    process?.close();
    process = undefined;
  }
}
