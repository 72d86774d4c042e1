import type { CheckMedia, VisionModel } from '../../core/ports/vision-model.ts';
import { VisionError } from '../../core/vision-errors.ts';

/** Scales a JPEG down to a width, in pixels. */
export type ResizeJpeg = (jpeg: Uint8Array, widthPixels: number, signal: AbortSignal) => Promise<Uint8Array>;

/** Width of a captured frame, in pixels. */
export const capturedWidthPixels = 896;
/** Minimum width of the frames that a model receives, in pixels. */
export const minPictureWidthPixels = 224;

/**
 * Returns a model that receives frames of at most `widthPixels` for its checks and searches: fewer pixels are fewer
 * tokens. The evidence keeps its width. Throws `VisionError` if a frame cannot be scaled.
 */
export function withPictureWidth(vision: VisionModel, widthPixels: number, resize: ResizeJpeg): VisionModel {
  const scale = async (jpeg: Uint8Array, signal: AbortSignal) =>
    resize(jpeg, widthPixels, signal).catch((cause: unknown) => {
      throw new VisionError('The frame cannot be scaled. Try again.', { cause, calls: [] });
    });
  const scaled = async ({ frame, earlier = [], previous, ...media }: CheckMedia, signal: AbortSignal) => ({
    ...media,
    frame: await scale(frame, signal),
    earlier: await Promise.all(
      earlier.map(async (before) => ({ ...before, frame: await scale(before.frame, signal) })),
    ),
    ...(previous && { previous: await scale(previous, signal) }),
  });
  return {
    ...vision,
    judge: async (media, questions, signal) => vision.judge(await scaled(media, signal), questions, signal),
    matches: async (pictures, query, signal) =>
      vision.matches(await Promise.all(pictures.map((jpeg) => scale(jpeg, signal))), query, signal),
    answerAbout: async (pictures, question, signal) => {
      const shown = await Promise.all(
        pictures.map(async ({ frame, ...rest }) => ({ ...rest, frame: await scale(frame, signal) })),
      );
      return vision.answerAbout(shown, question, signal);
    },
  };
}
