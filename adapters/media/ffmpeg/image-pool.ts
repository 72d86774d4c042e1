import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { waitUntilAborted } from '../../../core/time-limit.ts';
import { createFairCache } from '../../fair-cache.ts';
import { decodeFilter, type ImageDecoder, type ImageFit, type ImageSize } from './decode-image.ts';
import type { InTurn } from './in-turn.ts';
import { readSingleJpeg, createJpegMark } from './single-jpeg.ts';
import { Readable } from 'node:stream';
import { contained } from '../../contained.ts';
import { decodingLimits, quietArguments } from './capture-arguments.ts';
import { createChangeWait } from './change-wait.ts';
import { startFfmpeg } from './spawn-ffmpeg.ts';

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
      picture.then((drawn) => drawn ?? forget(), forget);
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

/**
 * Running ffmpeg that decodes one JPEG after another into packed RGB of one size. It gets JPEGs of exactly one picture
 * (`readSingleJpeg`). Once a decode fails, the process is ended.
 */
type ImageProcess = ReturnType<typeof startImageProcess>;

/**
 * Starts a process whose pictures have `pictureBytes`. `filter` scales any picture to this size. A JPEG of our own, the
 * mark, follows each JPEG, because ffmpeg takes a JPEG as complete when the next one begins. It also proves the order:
 * its content is random for each process, so no picture can be taken for another one.
 */
export function startImageProcess(ffmpegPath: string, filter: string, pictureBytes: number) {
  const { child, closed, awaited } = startFfmpeg(ffmpegPath, imageArguments(filter));
  const mark = createJpegMark();
  const pictures: Buffer[] = [];
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let markPicture: Buffer | undefined;
  let marksWritten = 0;
  let marksReceived = 0;
  const change = createChangeWait();
  let ended = false;

  closed.then(end, end);
  child.stdin?.on('error', end);
  for (const unused of child.stdio.slice(2)) if (unused instanceof Readable) unused.on('error', end).resume();
  child.stdout?.on('error', end).on('data', contained(takePictures, end));
  awaited(false);

  return {
    decode,
    /** Returns true once its first picture was read. */
    works: () => markPicture !== undefined,
    hasEnded: () => ended,
    close: end,
  };

  /**
   * Resolves to null if the process did not return exactly one picture of this JPEG in time. The process is ended
   * then.
   */
  async function decode(jpeg: Uint8Array, timeoutMs: number): Promise<Uint8Array | null> {
    awaited(true);
    const deadlineMs = performance.now() + timeoutMs;
    try {
      markPicture ??= await readMark(deadlineMs);
      const picture = markPicture && (await readAfterMarks(jpeg, markPicture, deadlineMs));
      if (picture) return picture;
    } finally {
      if (!ended) awaited(false);
    }
    end();
    return null;
  }

  async function readMark(deadlineMs: number): Promise<Buffer | undefined> {
    writeMarks(marksPerPicture);
    const first = await nextPicture(deadlineMs);
    if (first) marksReceived += 1;
    return first;
  }

  /**
   * Reads the picture of a JPEG. All marks before it must come back first: a file with several pictures cannot leave
   * one behind.
   */
  async function readAfterMarks(
    jpeg: Uint8Array,
    expected: Buffer,
    deadlineMs: number,
  ): Promise<Buffer | undefined> {
    const early = pictures.splice(0);
    if (!early.every((picture) => picture.equals(expected))) return undefined;
    marksReceived += early.length;
    const marksBefore = marksWritten;
    child.stdin?.write(jpeg);
    // ffmpeg holds back the others, sometimes one more than before. As many marks push this picture out. More are late
    // only, and would add to those of each later picture.
    writeMarks(Math.min(maxMarks, Math.max(marksPerPicture, marksBefore - marksReceived)));
    for (;;) {
      const picture = await nextPicture(deadlineMs);
      if (!picture?.equals(expected)) return marksReceived === marksBefore ? picture : undefined;
      marksReceived += 1;
      if (marksReceived > marksBefore) return undefined;
    }
  }

  function writeMarks(count: number): void {
    for (let index = 0; index < count; index += 1) child.stdin?.write(mark);
    marksWritten += count;
  }

  async function nextPicture(deadlineMs: number): Promise<Buffer | undefined> {
    while (pictures.length === 0) {
      const leftMs = deadlineMs - performance.now();
      if (ended || leftMs <= 0) return undefined;
      if (!(await change.within(nudgeMs))) writeMarks(1);
    }
    return pictures.shift();
  }

  function takePictures(chunk: Buffer): void {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < pictureBytes) return;
    const bytes = Buffer.concat(pending);
    const complete = pendingBytes - (pendingBytes % pictureBytes);
    for (let start = 0; start < complete; start += pictureBytes)
      pictures.push(bytes.subarray(start, start + pictureBytes));
    pending = [bytes.subarray(complete)];
    pendingBytes -= complete;
    if (pictures.length > maxWaiting) return end();
    change.wake();
  }

  function end(): void {
    ended = true;
    child.kill('SIGKILL');
    change.wake();
  }
}

/** ffmpeg 5 writes a picture when it has read two more, and sometimes three. */
const [marksPerPicture, maxMarks] = [2, 4];
/**
 * Time without output after which one more mark is written, in milliseconds: another build may hold back more pictures.
 */
const nudgeMs = 150;
/** Maximum pictures that wait. More are of a file with many pictures. */
const maxWaiting = 24;

function imageArguments(filter: string): string[] {
  const input =
    '-codec_whitelist mjpeg -protocol_whitelist pipe -fpsprobesize 0 -probesize 32 -analyzeduration 0 -f mjpeg -i pipe:0';
  return [
    ...quietArguments,
    ...'-loglevel fatal -xerror -err_detect explode'.split(' '),
    ...decodingLimits,
    ...input.split(' '),
    '-vf',
    filter,
    ...'-map 0:v:0 -fps_mode passthrough -flush_packets 1 -f rawvideo pipe:1'.split(' '),
  ];
}
