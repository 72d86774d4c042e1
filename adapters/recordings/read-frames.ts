import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import {
  decodingLimits,
  fileInput,
  pictureBranches,
  quietArguments,
} from '../media/ffmpeg/capture-arguments.ts';
import { RecordingError } from './recording-error.ts';
import { thumbnail } from '../../core/records/capture.ts';

/**
 * Frame of a recording: JPEG and thumbnail as captures have them, and its time from the beginning of the file, in
 * seconds.
 */
type RecordedFrame = { seconds: number; frame: Uint8Array; thumbnail: Uint8Array };

/**
 * Outputs of one run of ffmpeg: the same frames in the same order as JPEGs, as thumbnails, and as lines of
 * milliseconds.
 */
type FrameOutputs = { pictures: Pipe; thumbnails: Pipe; times: Pipe };

/** Element of `stdio`; only a readable one is an output. */
type Pipe = Readable | object | null | undefined;

/** Maximum frames of an output that wait for the other two. */
const maxWaiting = 8;
const jpegEnd = Buffer.from([0xff, 0xd9]);

/**
 * Yields frames from three outputs as they arrive. Pauses an output that is ahead, so that ffmpeg goes no faster than
 * its reader; the pipes of ffmpeg buffer the rest.
 */
async function* splitFrames({ pictures, thumbnails, times }: FrameOutputs): AsyncGenerator<RecordedFrame> {
  const outputs = {
    pictures: cut(pictures, nextJpeg),
    thumbnails: cut(thumbnails, nextThumbnail),
    times: cut(times, nextTime),
  };
  for (;;) {
    const frame = await outputs.pictures.next();
    const small = await outputs.thumbnails.next();
    const milliseconds = await outputs.times.next();
    if (frame === undefined || small === undefined || milliseconds === undefined) return;
    yield { frame, thumbnail: small, seconds: milliseconds / 1000 };
  }
}

/** Takes a piece from the front of the bytes: the piece and its end, or `undefined` if it is not complete. */
type Take<Piece> = (bytes: Buffer) => { piece: Piece | null; end: number } | undefined;

/** Cuts an output into pieces. `next` returns `undefined` at its end. A piece of `null` is left out. */
function cut<Piece>(pipe: Pipe, take: Take<Piece>): { next: () => Promise<Piece | undefined> } {
  const waiting: Piece[] = [];
  const state = { bytes: Buffer.alloc(0), isEnded: !isReadable(pipe), wake: doNothing };
  if (isReadable(pipe)) {
    pipe.on('data', (chunk: Buffer) => {
      state.bytes = Buffer.concat([state.bytes, chunk]);
      for (let frame = take(state.bytes); frame; frame = take(state.bytes)) {
        state.bytes = state.bytes.subarray(frame.end);
        if (frame.piece !== null) waiting.push(frame.piece);
      }
      if (waiting.length > maxWaiting) pipe.pause();
      state.wake();
    });
    for (const event of ['end', 'close', 'error'])
      pipe.on(event, () => {
        state.isEnded = true;
        state.wake();
      });
  }
  return {
    next: async () => {
      while (waiting.length === 0 && !state.isEnded) {
        const woken = Promise.withResolvers<void>();
        state.wake = woken.resolve;
        if (isReadable(pipe)) pipe.resume();
        await woken.promise;
      }
      return waiting.shift();
    },
  };
}

function doNothing(): void {}

function isReadable(pipe: Pipe): pipe is Readable {
  return typeof pipe === 'object' && pipe !== null && 'resume' in pipe;
}

/** JPEG stuffs every 0xFF of its data, so the end marker occurs at the end only. */
function nextJpeg(bytes: Buffer): { piece: Uint8Array; end: number } | undefined {
  const index = bytes.indexOf(jpegEnd);
  return index < 0 ? undefined : { piece: new Uint8Array(bytes.subarray(0, index + 2)), end: index + 2 };
}

function nextThumbnail(bytes: Buffer): { piece: Uint8Array; end: number } | undefined {
  if (bytes.length < thumbnail.bytes) return undefined;
  return { piece: new Uint8Array(bytes.subarray(0, thumbnail.bytes)), end: thumbnail.bytes };
}

/** The first line is a comment. */
function nextTime(bytes: Buffer): { piece: number | null; end: number } | undefined {
  const index = bytes.indexOf('\n');
  if (index < 0) return undefined;
  const line = bytes.subarray(0, index).toString();
  return { piece: line.startsWith('#') ? null : Number(line), end: index + 1 };
}

/** Minimum time between two frames that are no key frames, in seconds. No check needs more. */
export const frameSeconds = 0.45;

/**
 * Yields the frames of a recording in order, decoded in one run of ffmpeg that goes no faster than they are read. With
 * `keyFramesOnly` the frames between key frames are not decoded, otherwise each key frame is yielded. Throws
 * `RecordingError` if nothing can be decoded.
 */
export async function* readFrames(
  ffmpegPath: string,
  path: string,
  { keyFramesOnly, maxFrames }: { keyFramesOnly: boolean; maxFrames?: number },
): AsyncGenerator<RecordedFrame> {
  const child = spawn(ffmpegPath, frameArguments(path, keyFramesOnly, maxFrames), {
    env: {},
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const complaint = collectText(child.stderr);
  const outputs = { thumbnails: child.stdout, pictures: child.stdio[3], times: child.stdio[4] };
  let count = 0;
  try {
    for await (const frame of splitFrames(outputs)) {
      count += 1;
      yield frame;
    }
    await closed;
    if (count === 0) throw new RecordingError(`No frame of ${path} can be decoded. ${complaint()}`.trim());
  } finally {
    child.kill('SIGKILL');
    // A paused pipe would keep the process from closing.
    for (const pipe of child.stdio) pipe?.destroy();
    await closed.catch(() => undefined);
  }
}

/** Returns the first line that ffmpeg writes to stderr. */
function collectText(pipe: Readable | null): () => string {
  let text = '';
  pipe?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(0, 1000)));
  return () => text.split('\n', 1)[0] ?? '';
}

function frameArguments(path: string, keyFramesOnly: boolean, maxFrames: number | undefined): string[] {
  const skipped = keyFramesOnly ? ['-skip_frame', 'nokey'] : [];
  const rate = `select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,${frameSeconds})${keyFramesOnly ? '' : '+key'}`;
  const split = 'split=2[timed][pictures];[timed]scale=2:2[time]';
  return [
    ...quietArguments,
    ...skipped,
    ...decodingLimits,
    ...fileInput(path),
    '-filter_complex',
    `[0:v:0]setpts=PTS-STARTPTS,${rate},${split};[pictures]${pictureBranches}`,
    ...output('frame', 'mjpeg -q:v 3', 'image2pipe', 3, maxFrames),
    ...output('thumbnail', 'rawvideo', 'rawvideo', 1, maxFrames),
    ...output('time', 'rawvideo', 'mkvtimestamp_v2', 4, maxFrames),
  ];
}

function output(
  name: string,
  codec: string,
  format: string,
  pipe: number,
  maxFrames: number | undefined,
): string[] {
  const count = maxFrames === undefined ? '' : ` -frames:v ${maxFrames}`;
  return `-map [${name}] -fps_mode passthrough${count} -c:v ${codec} -f ${format} pipe:${pipe}`.split(' ');
}
