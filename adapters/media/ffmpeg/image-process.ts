import { Readable } from 'node:stream';
import { contained } from '../../contained.ts';
import { decodingLimits, quietArguments } from './capture-arguments.ts';
import { createChangeWait } from './change-wait.ts';
import { startFfmpeg } from './ffmpeg-process.ts';
import { createJpegMark } from './single-jpeg.ts';

/**
 * Running ffmpeg that decodes one JPEG after another into packed RGB of one size. It gets JPEGs of exactly one picture
 * (`readSingleJpeg`). Once a decode fails, the process is ended.
 */
export type ImageProcess = ReturnType<typeof startImageProcess>;

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
    known: Buffer,
    deadlineMs: number,
  ): Promise<Buffer | undefined> {
    const early = pictures.splice(0);
    if (!early.every((picture) => picture.equals(known))) return undefined;
    marksReceived += early.length;
    const marksBefore = marksWritten;
    child.stdin?.write(jpeg);
    // ffmpeg holds back the others, sometimes one more than before. As many marks push this picture out. More are late
    // only, and would add to those of each later picture.
    writeMarks(Math.min(maxMarks, Math.max(marksPerPicture, marksBefore - marksReceived)));
    for (;;) {
      const picture = await nextPicture(deadlineMs);
      if (!picture?.equals(known)) return marksReceived === marksBefore ? picture : undefined;
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
    if (pictures.length > maxPictures) return end();
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
const maxPictures = 24;

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
