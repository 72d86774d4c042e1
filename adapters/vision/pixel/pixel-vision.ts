import { TransientError, UnreadableFrameError, VisionError } from '../../../core/errors.ts';
import type { CheckMedia, Sample, VisionModel } from '../../../core/ports/vision-model.ts';
import { ImageDecodeError } from '../../media/ffmpeg/errors.ts';
import { describeFrame, disclosure, unmeasurableReason } from './explain.ts';
import { canHold } from '../condition/logic.ts';
import { judgeMoments, type TimedMoment } from './judge.ts';
import { measureClip } from './measure-clip.ts';
import { parseMeasurements } from '../condition/parse-condition.ts';
import { measurePicture } from './measure-picture.ts';
import type { PictureDecoder, PictureSize } from './image-decoder.ts';
import { summarizeSamples } from './summarize.ts';

const pixelSize: PictureSize = { width: 320, height: 180 };
const size = pixelSize;
const clipFramesPerSecond = 4;
const conditionExamples = ['A red car is in the yard', 'The picture is dark', 'Something moves'];
const tokens = { input_tokens: 0, output_tokens: 0 };

/**
 * Creates the built-in model, which measures colors, brightness and motion (`parse-condition.ts` has the grammar). It is not a
 * vision-language model, and each answer states it. Its calls throw `VisionError`, `answer` also `UnreadableFrameError`.
 */
export function createPixelVision({ decoder }: { decoder: PictureDecoder }): VisionModel {
  return {
    provider: 'pixel',
    model: 'pixel',
    supportsVideo: true,
    conditionExamples,
    unjudgedParts: (text) => parseMeasurements(text).notJudged,
    reasonNotToJudge: (text) => {
      const { condition } = parseMeasurements(text);
      const holds = condition !== null && canHold(condition, ({ kind }) => kind !== 'unmeasurable');
      return holds ? undefined : unmeasurableReason;
    },

    async judge(look, condition, signal) {
      const moments = await decoded(signal, () => readMoments(look, decoder, signal));
      const { holds, explanation } = judgeMoments(condition, moments);
      return { triggered: holds === true, explanation, tokens, ...(holds === null && { judged: false }) };
    },

    async judgeConditions(look, questions, signal) {
      const moments = await decoded(signal, () => readMoments(look, decoder, signal));
      const verdicts = questions.map(({ condition_id, condition }) => {
        const { holds, explanation } = judgeMoments(condition, moments);
        return { condition_id, triggered: holds, explanation };
      });
      return { verdicts, tokens };
    },

    async answer(frame, question, signal) {
      const rgb = await decodedFrame(frame, decoder, signal);
      const picture = measurePicture(rgb, size);
      if (isOpen(question))
        return { answer: `${describeFrame(picture)} ${disclosure}`, triggered: null, tokens };
      const { holds, explanation } = judgeMoments(question, [{ picture, clip: null, atSeconds: null }]);
      return {
        answer: holds === null ? explanation : `${holds ? 'Yes' : 'No'}. ${explanation}`,
        triggered: holds,
        tokens,
        ...(holds === null && { judged: false }),
      };
    },

    summarize: async (samples, signal) => ({ summary: await summarize(samples, decoder, signal), tokens }),
  };
}

async function summarize(samples: Sample[], decoder: PictureDecoder, signal: AbortSignal): Promise<string> {
  const frames = samples.map(({ frame }) => frame);
  const pictures = await decoded(signal, () => decoder.decodeEach(frames, size, signal));
  const measured = pictures.flatMap((rgb, at) => {
    const sample = samples[at];
    return sample && rgb ? [{ rgb, capturedAt: sample.capturedAt }] : [];
  });
  const unread = samples.length - measured.length;
  const leftOut = unread === 0 ? '' : `${unread} of ${samples.length} samples could not be decoded. `;
  return leftOut + summarizeSamples(measured, size);
}

/** Returns the frames of a clip; in hybrid mode also the frame, and without a clip only the frame. */
export async function readMoments(
  { mode, frame, clip }: CheckMedia,
  decoder: PictureDecoder,
  signal: AbortSignal,
): Promise<[TimedMoment, ...TimedMoment[]]> {
  const pictures =
    mode === 'frames' || clip === undefined
      ? []
      : await decoder.decodeClip(clip, size, clipFramesPerSecond, signal);
  const motion = measureClip(pictures);
  const [first, ...rest] = pictures.map((rgb, at) => ({
    picture: measurePicture(rgb, size),
    clip: motion,
    atSeconds: at / clipFramesPerSecond,
  }));
  if (first !== undefined && mode === 'clip') return [first, ...rest];
  const rgb = await decoder.decode(frame, size, signal);
  const still = { picture: measurePicture(rgb, size), clip: motion, atSeconds: null };
  return first === undefined ? [still] : [still, first, ...rest];
}

/** Decodes the frame of the caller. A failure is an input error, not a model error. */
export async function decodedFrame(
  frame: Uint8Array,
  decoder: PictureDecoder,
  signal: AbortSignal,
  size: PictureSize = pixelSize,
): Promise<Uint8Array> {
  return decoded(signal, async () => {
    try {
      return await decoder.decode(frame, size, signal);
    } catch (error) {
      if (!(error instanceof ImageDecodeError)) throw error;
      throw new UnreadableFrameError('The JPEG is damaged or truncated. Send a complete JPEG.', {
        cause: error,
      });
    }
  });
}

export async function decoded<Decoded>(
  signal: AbortSignal,
  decode: () => Promise<Decoded>,
): Promise<Decoded> {
  try {
    return await decode();
  } catch (cause) {
    if (cause instanceof UnreadableFrameError || cause instanceof TransientError) throw cause;
    throw new VisionError(
      signal.aborted
        ? 'The frame was not decoded in time. Try again.'
        : 'The frame cannot be decoded. Try again.',
      { cause },
    );
  }
}

/** Returns true for a question without a yes or no answer, such as "what color" or "describe". */
export function isOpen(question: string): boolean {
  return /^\s*(?:please\s+)?(?:what|which|how|where|who|whose|why|when|describe|list|tell|count|name|explain|summari[sz]e)\b/i.test(
    question,
  );
}
