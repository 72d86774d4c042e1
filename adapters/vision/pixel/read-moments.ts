import { MachineBusyError, TransientError } from '../../../core/errors.ts';
import { ModelBusyError, VisionError } from '../../../core/vision-errors.ts';
import type { CheckMedia } from '../../../core/ports/vision-model.ts';
import type { Moment } from './evaluate.ts';
import type { PictureDecoder, PictureSize } from './image-decoder.ts';
import { measureClip } from './measure-clip.ts';
import { measurePicture } from './measure-picture.ts';

export const measuredSize: PictureSize = { width: 320, height: 180 };
const clipFramesPerSecond = 4;

/** Frame with its time in the clip, in seconds, or null for the frame of the capture. */
export type TimedMoment = Moment & { atSeconds: number | null };

/**
 * Measures the frames of a clip; in hybrid mode also the frame, and without a clip only the frame. Throws
 * `VisionError`.
 */
export async function readMoments(
  { mode, frame, clip }: CheckMedia,
  decoder: PictureDecoder,
  signal: AbortSignal,
): Promise<[TimedMoment, ...TimedMoment[]]> {
  return decoded(signal, async () => {
    const pictures =
      mode === 'frames' || clip === undefined
        ? []
        : await decoder.decodeClip(clip, measuredSize, clipFramesPerSecond, signal);
    const motion = measureClip(pictures);
    const [first, ...rest] = pictures.map((rgb, index) => ({
      picture: measurePicture(rgb, measuredSize),
      clip: motion,
      atSeconds: index / clipFramesPerSecond,
    }));
    if (first !== undefined && mode === 'clip') return [first, ...rest];
    const rgb = await decoder.decode(frame, measuredSize, signal);
    const still = { picture: measurePicture(rgb, measuredSize), clip: motion, atSeconds: null };
    return first === undefined ? [still] : [still, first, ...rest];
  });
}

/** Decodes pictures. Throws `VisionError` if that fails. */
export async function decoded<Decoded>(
  signal: AbortSignal,
  decode: () => Promise<Decoded>,
): Promise<Decoded> {
  try {
    return await decode();
  } catch (cause) {
    if (cause instanceof MachineBusyError) throw new ModelBusyError({ cause });
    if (cause instanceof TransientError) throw cause;
    throw new VisionError(
      signal.aborted
        ? 'The frame was not decoded in time. Try again.'
        : 'The frame cannot be decoded. Try again.',
      { cause },
    );
  }
}
