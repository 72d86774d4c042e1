import type { FramePictures } from '../../../core/ports/stream-capturer.ts';
import type { ScannedFrame } from '../../../core/records/capture.ts';

type ReadPicture = (signal: AbortSignal) => Promise<Uint8Array | null>;

/** Readers of the pictures, as long as their frames are in memory. */
const readers = new WeakMap<ScannedFrame, ReadPicture>();

/** Creates a frame of a scan whose picture is read on demand. */
export function createScannedFrame(
  atMs: number,
  thumbnail: Uint8Array,
  readPicture: ReadPicture,
): ScannedFrame {
  const frame = { at: new Date(atMs), thumbnail };
  readers.set(frame, readPicture);
  return frame;
}

/** Pictures of all scans of this process. */
export const framePictures: FramePictures = {
  picture: async (frame, _request, signal) => (await readers.get(frame)?.(signal)) ?? null,
};
