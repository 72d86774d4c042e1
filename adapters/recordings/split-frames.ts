import type { Readable } from 'node:stream';
import { thumbnail } from '../../core/records/capture.ts';

/** Frame of a recording: JPEG and thumbnail as captures have them, and its time from the beginning of the file, in seconds. */
export type RecordedFrame = { seconds: number; frame: Uint8Array; thumbnail: Uint8Array };

/** Outputs of one run of ffmpeg: the same frames in the same order as JPEGs, as thumbnails, and as lines of milliseconds. */
export type FrameOutputs = { pictures: Pipe; thumbnails: Pipe; times: Pipe };

/** Element of `stdio`; only a readable one is an output. */
type Pipe = Readable | object | null | undefined;

/** Maximum frames of an output that wait for the other two. */
const maxWaiting = 8;
const jpegEnd = Buffer.from([0xff, 0xd9]);

/**
 * Yields frames from three outputs as they arrive. Pauses an output that is ahead, so that ffmpeg goes no faster than its reader;
 * the pipes of ffmpeg buffer the rest.
 */
export async function* splitFrames({
  pictures,
  thumbnails,
  times,
}: FrameOutputs): AsyncGenerator<RecordedFrame> {
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
      for (let found = take(state.bytes); found; found = take(state.bytes)) {
        state.bytes = state.bytes.subarray(found.end);
        if (found.piece !== null) waiting.push(found.piece);
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
  const at = bytes.indexOf(jpegEnd);
  return at < 0 ? undefined : { piece: new Uint8Array(bytes.subarray(0, at + 2)), end: at + 2 };
}

function nextThumbnail(bytes: Buffer): { piece: Uint8Array; end: number } | undefined {
  if (bytes.length < thumbnail.bytes) return undefined;
  return { piece: new Uint8Array(bytes.subarray(0, thumbnail.bytes)), end: thumbnail.bytes };
}

/** The first line is a comment. */
function nextTime(bytes: Buffer): { piece: number | null; end: number } | undefined {
  const at = bytes.indexOf('\n');
  if (at < 0) return undefined;
  const line = bytes.subarray(0, at).toString();
  return { piece: line.startsWith('#') ? null : Number(line), end: at + 1 };
}
