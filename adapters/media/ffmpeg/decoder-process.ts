import { Readable } from 'node:stream';
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
import { startFfmpeg } from './ffmpeg-process.ts';
import type { FfmpegOutput } from './run-ffmpeg.ts';

/** Running ffmpeg that decodes one H.264 key frame after another. Once a decode fails, the process is ended. */
export type DecoderProcess = {
  pid: number | undefined;
  isBusy(): boolean;
  /** Resolves to null if the process did not return exactly one picture of this key frame in time. The process is ended then. */
  decode(keyFrame: Uint8Array, timeoutMs: number): Promise<FfmpegOutput | null>;
  close(): void;
};

/** Time without output after which one more mark is written, in milliseconds: decoders reorder frames, and hold some back. */
const nudgeMs = 150;
/** Marks per decode: H.264 reorders at most 16 frames. */
const maxMarks = 20;
const maxOutputBytes = 16 * 1024 * 1024;

/** Access unit delimiter: ends the frame before it. */
const delimiter = Buffer.from([0, 0, 0, 1, 9, 0xf0]);

/**
 * Starts a decoder whose frames have `size`: the encoder of a running ffmpeg cannot change it. With `null` it returns thumbnails with empty frames, for half of
 * the work. A picture of our own, the mark, follows each key frame.
 * It pushes the picture of the key frame out of the decoder, and proves the order: its content is random for each process, so no stream has it, and
 * between two pictures of streams there is always one. A damaged frame ends the process (`-xerror`), so that no part of another picture can fill its
 * place.
 */
export function startDecoder(ffmpegPath: string, size: FrameSize | null): DecoderProcess {
  const { child, closed, awaited } = startFfmpeg(ffmpegPath, decoderArguments(size));
  const mark = createMark();
  const change = createChangeWait();
  const frameOutput = size === null ? null : child.stdio[3];
  const pictures = readPictures(frameOutput, child.stdio[1], change.wake, end);
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

  async function decode(keyFrame: Uint8Array, timeoutMs: number): Promise<FfmpegOutput | null> {
    isBusy = true;
    awaited(true);
    const deadlineMs = performance.now() + timeoutMs;
    try {
      markPicture ??= await readMark(deadlineMs);
      const picture = markPicture && (await readKeyFrame(keyFrame, markPicture, deadlineMs));
      if (picture) return { frame: picture.frame, thumbnail: picture.thumbnail };
    } finally {
      isBusy = false;
      if (!hasEnded) awaited(false);
    }
    end();
    return null;
  }

  /** Reads the picture of the mark, which this process repeats exactly. */
  async function readMark(deadlineMs: number): Promise<Picture | undefined> {
    writeMarks(2);
    const first = await nextPicture(deadlineMs);
    pendingMarks -= 1;
    return first && mark.isShownBy(first.thumbnail) ? first : undefined;
  }

  async function readKeyFrame(
    keyFrame: Uint8Array,
    known: Picture,
    deadlineMs: number,
  ): Promise<Picture | undefined> {
    const early = pictures.splice(0);
    if (!early.every((picture) => isSame(picture, known))) return undefined;
    // The decoder holds back all others.
    const before = pendingMarks - early.length;
    pendingMarks = 0;
    child.stdin?.write(Buffer.concat([keyFrame, delimiter]));
    writeMarks(Math.max(1, before));
    for (let index = 0; index < before; index += 1) {
      const earlier = await nextPicture(deadlineMs);
      if (!earlier || !isSame(earlier, known)) return undefined;
    }
    const picture = await nextPicture(deadlineMs);
    return picture && !isSame(picture, known) ? picture : undefined;
  }

  async function nextPicture(deadlineMs: number): Promise<Picture | undefined> {
    for (let marks = 0; ;) {
      const picture = pictures.shift();
      if (picture) return picture;
      if (hasEnded || performance.now() > deadlineMs) return undefined;
      if ((await change.within(nudgeMs)) || marks === maxMarks) continue;
      writeMarks(1);
      marks += 1;
    }
  }

  function writeMarks(count: number): void {
    pendingMarks += count;
    for (let index = 0; index < count; index += 1) child.stdin?.write(Buffer.concat([mark.bytes, delimiter]));
  }

  function end(): void {
    hasEnded = true;
    child.kill('SIGKILL');
    change.wake();
  }
}

type Picture = { frame: Buffer; thumbnail: Buffer };

/** Collects the pictures of a process in a list; without an output of frames, these are empty. Calls `end` if their bytes exceed the limit. */
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
    thumbnailOutput.on('data', (chunk: Buffer) => {
      thumbnails = Buffer.concat([thumbnails, chunk]);
      takePictures();
    });
  if (frameOutput instanceof Readable)
    frameOutput.on('data', (chunk: Buffer) => {
      jpegs = Buffer.concat([jpegs, chunk]);
      takePictures();
    });
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

function isSame(one: Picture, other: Picture): boolean {
  return one.thumbnail.equals(other.thumbnail) && one.frame.equals(other.frame);
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
