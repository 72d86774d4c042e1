import type { VisionModel } from '../../core/ports/vision-model.ts';
import { VisionError } from '../../core/errors.ts';

/** Scales a JPEG down to a width, in pixels. */
export type ResizeJpeg = (jpeg: Uint8Array, widthPixels: number, signal: AbortSignal) => Promise<Uint8Array>;

/**
 * Returns a model that receives frames of at most `widthPixels` for its checks: fewer pixels are fewer tokens. The evidence keeps its
 * width. Throws `VisionError` if a frame cannot be scaled.
 */
export function withPictureWidth(vision: VisionModel, widthPixels: number, resize: ResizeJpeg): VisionModel {
  return {
    provider: vision.provider,
    model: vision.model,
    supportsVideo: vision.supportsVideo,
    judge: async (media, condition, signal) => {
      const frame = await resize(media.frame, widthPixels, signal).catch((cause: unknown) => {
        throw new VisionError('The frame cannot be scaled. Try again.', { cause });
      });
      return vision.judge({ ...media, frame }, condition, signal);
    },
    answer: async (frame, question, signal) => vision.answer(frame, question, signal),
    summarize: async (samples, signal) => vision.summarize(samples, signal),
  };
}
