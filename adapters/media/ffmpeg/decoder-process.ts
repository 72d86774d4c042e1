import { Readable } from 'node:stream';
import { contained } from '../../contained.ts';
import { thumbnail } from '../../../core/records/capture.ts';
import { createMark } from '../h264/random-mark.ts';
import {
  decodingLimits,
  pictureGraph,
  quietArguments,
  thumbnailFilter,
  words,
  type FrameSize,
} from './capture-arguments.ts';
import { createChangeWait } from './change-wait.ts';
import { startFfmpeg } from './spawn-ffmpeg.ts';
import type { FfmpegOutput } from './run-ffmpeg.ts';

/** Running ffmpeg that decodes H.264 key frames. Once a decode fails, the process is ended. */
export type DecoderProcess = ReturnType<typeof startDecoder>;

/**
 * Time without output after which one more mark is written, in milliseconds: decoders reorder frames, and hold some
 * back.
 */
const nudgeMs = 150;
/** Marks per picture: H.264 reorders at most 16 frames. */
const maxMarks = 20;
const maxOutputBytes = 16 * 1024 * 1024;

/** Access unit delimiter: ends the frame before it. */
const delimiter = Buffer.from([0, 0, 0, 1, 9, 0xf0]);

/**
 * Starts a decoder whose frames have `size`: the encoder of a running ffmpeg cannot change it. With `null` it returns
 * thumbnails with empty frames, for half of the work. A picture of our own, the mark, follows each key frame. It pushes
 * the picture of the key frame out of the decoder, and proves the order: its content is random for each process, so no
 * stream has it, and between two pictures of streams there is always one. A damaged frame ends the process (`-xerror`),
 * so that no part of another picture can fill its place.
 */
export function startDecoder(ffmpegPath: string, size: FrameSize | null) {
  const { child, closed, awaited } = startFfmpeg(ffmpegPath, decoderArguments(size));
  const mark = createMark();
  const change = createChangeWait();
  const frameOutput = size === null ? null : child.stdio[3];
  const pictures = readPictures(frameOutput, child.stdio[1], change.wake, end);
  const markUnits = Buffer.concat([mark.bytes, delimiter]);
  let markPicture: Picture | undefined;
  /** Marks that were written and have not come back. */
  let pendingMarks = 0;
  let isBusy = false;
  let hasEnded = false;

  closed.then(end, end);
  child.stdin?.on('error', end);
  child.stdio[2]?.on('data', () => undefined);
  awaited(false);

  return { pid: child.pid, isBusy: () => isBusy, decode, close: end };

  /**
   * Decodes key frames that are written together, with a timeout for each. Returns their pictures in order, up to
   * the first key frame of which the process did not return exactly one picture in time. The process is ended then.
   * After an abort, the rest has the timeout of one, so that the process can stay.
   */
  async function decode(
    keyFrames: readonly Uint8Array[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<FfmpegOutput[]> {
    isBusy = true;
    awaited(true);
    let deadlineMs = performance.now() + timeoutMs;
    const isOver = (): boolean => performance.now() > deadlineMs;
    const decoded: Picture[] = [];
    try {
      markPicture ??= await readMark(isOver);
      const earlier = markPicture ? writeKeyFrames(keyFrames) : 0;
      let isInOrder = await areMarks(earlier, isOver);
      while (isInOrder && decoded.length < keyFrames.length) {
        const picture = await nextPicture(isOver);
        if (!picture || isSame(picture, markPicture)) break;
        // The decoder may hold the last mark back.
        isInOrder = decoded.length === keyFrames.length - 1 || (await areMarks(1, isOver));
        if (isInOrder) decoded.push(picture);
        if (!signal?.aborted) deadlineMs = performance.now() + timeoutMs;
      }
    } finally {
      isBusy = false;
      if (!hasEnded) awaited(false);
    }
    if (decoded.length < keyFrames.length) end();
    return decoded;
  }

  /** Reads the picture of the mark, which this process repeats exactly. */
  async function readMark(isOver: () => boolean): Promise<Picture | undefined> {
    writeMarks(2);
    const first = await nextPicture(isOver);
    pendingMarks -= 1;
    return first && mark.isShownBy(first.thumbnail) ? first : undefined;
  }

  /** Writes key frames with a mark after each. Returns the number of marks that come back before their pictures. */
  function writeKeyFrames(keyFrames: readonly Uint8Array[]): number {
    const earlier = pendingMarks;
    const held = countLastMarks(earlier, pictures.length);
    pendingMarks = 0;
    child.stdin?.cork();
    for (const [index, keyFrame] of keyFrames.entries())
      for (const bytes of [...(index > 0 ? [markUnits] : []), keyFrame, delimiter]) child.stdin?.write(bytes);
    writeMarks(held);
    child.stdin?.uncork();
    return earlier;
  }

  async function areMarks(count: number, isOver: () => boolean): Promise<boolean> {
    for (let index = 0; index < count; index += 1) {
      const picture = await nextPicture(isOver);
      if (!picture || !isSame(picture, markPicture)) return false;
    }
    return markPicture !== undefined;
  }

  async function nextPicture(isOver: () => boolean): Promise<Picture | undefined> {
    for (let marks = 0; ;) {
      const picture = pictures.shift();
      if (picture) return picture;
      if (hasEnded || isOver()) return undefined;
      if ((await change.within(nudgeMs)) || marks === maxMarks) continue;
      writeMarks(1);
      marks += 1;
    }
  }

  function writeMarks(count: number): void {
    pendingMarks += count;
    for (let index = 0; index < count; index += 1) child.stdin?.write(markUnits);
  }

  function end(): void {
    hasEnded = true;
    child.kill('SIGKILL');
    change.wake();
  }
}

/**
 * Returns the number of marks after the last key frame. The decoder holds back those that have not arrived, so that it
 * needs as many for the last picture; more than it can reorder are late only, and would add to those of each later
 * decode.
 */
export function countLastMarks(written: number, arrived: number): number {
  return Math.min(maxMarks, Math.max(1, written - arrived));
}

type Picture = { frame: Buffer; thumbnail: Buffer };

/**
 * Collects the pictures of a process in a list; without an output of frames, these are empty. Calls `end` if their
 * bytes exceed the limit.
 */
function readPictures(
  frameOutput: unknown,
  thumbnailOutput: unknown,
  wake: () => void,
  end: () => void,
): Picture[] {
  const pictures: Picture[] = [];
  let jpegs: Buffer = Buffer.alloc(0);
  let thumbnails: Buffer = Buffer.alloc(0);
  if (thumbnailOutput instanceof Readable)
    thumbnailOutput.on(
      'data',
      contained((chunk: Buffer) => {
        thumbnails = Buffer.concat([thumbnails, chunk]);
        takePictures();
      }, end),
    );
  if (frameOutput instanceof Readable)
    frameOutput.on(
      'data',
      contained((chunk: Buffer) => {
        jpegs = Buffer.concat([jpegs, chunk]);
        takePictures();
      }, end),
    );
  return pictures;

  /** ffmpeg writes the JPEG of a picture before its thumbnail. */
  function takePictures(): void {
    if (jpegs.length + thumbnails.length > maxOutputBytes) return end();
    for (;;) {
      const jpegEnd = frameOutput === null ? 0 : jpegs.indexOf(endOfJpeg) + endOfJpeg.length;
      const isWhole = frameOutput === null || jpegEnd >= endOfJpeg.length;
      if (!isWhole || thumbnails.length < thumbnail.bytes) break;
      pictures.push({
        frame: Buffer.from(jpegs.subarray(0, jpegEnd)),
        thumbnail: Buffer.from(thumbnails.subarray(0, thumbnail.bytes)),
      });
      jpegs = jpegs.subarray(jpegEnd);
      thumbnails = thumbnails.subarray(thumbnail.bytes);
      wake();
    }
  }
}

/** The bytes FF D9 occur in no other place of the JPEGs of ffmpeg: compressed data stuffs every FF. */
const endOfJpeg = Buffer.from([0xff, 0xd9]);

function isSame(one: Picture, other: Picture | undefined): boolean {
  return other !== undefined && one.thumbnail.equals(other.thumbnail) && one.frame.equals(other.frame);
}

/** Frames of different streams have no common clock, and ffmpeg accepts only growing times. */
const wallClock = 'settb=AVTB,setpts=RTCTIME';

function decoderArguments(size: FrameSize | null): string[] {
  const outputs = '-fps_mode passthrough -enc_time_base 1:1000000 -flush_packets 1 -c:v';
  const frameOutput = size === null ? '' : `-map [frame] ${outputs} mjpeg -q:v 3 -f image2pipe pipe:3`;
  return [
    ...quietArguments,
    ...words('-loglevel fatal -xerror -err_detect explode -skip_frame nokey -flags low_delay'),
    ...decodingLimits,
    ...words('-codec_whitelist h264 -protocol_whitelist pipe'),
    ...words('-fpsprobesize 0 -probesize 32 -analyzeduration 0 -f h264 -i pipe:0 -filter_complex'),
    // The mark has another shape.
    size === null
      ? `[0:v:0]${wallClock},${thumbnailFilter}[thumbnail]`
      : pictureGraph(`scale=${size.width}:${size.height},setsar=1`, `${wallClock},`),
    ...words(`${frameOutput} -map [thumbnail] ${outputs} rawvideo -f rawvideo pipe:1`),
  ];
}
