import { TooManyFramesError } from '../../core/errors.ts';
import type { ContactSheets } from '../../core/ports/contact-sheets.ts';
import type { CheckMedia, VisionModel } from '../../core/ports/vision-model.ts';
import type { TokenUse } from '../../core/records/vision.ts';
import { arrangeSamples } from './arrange-samples.ts';
import {
  toAnswer,
  answerTask,
  judgeConditionsTask,
  judgeMomentsTask,
  judgeTask,
  toConditionVerdicts,
  toMomentVerdicts,
  toSummary,
  summaryTask,
  toVerdict,
} from './prompt.ts';
import { defaultPrompt, type PromptVariant } from './prompt-variants.ts';
import { ContextError, type ModelTask, PictureCountError } from './task.ts';

/** Maximum images per request. llama.cpp and Ollama slow down with more; vLLM has its own limit. */
const maxImages = 8;

/** Asks a model about pictures. Throws `VisionError`. */
export type Chat = <Fields>(
  task: ModelTask<Fields>,
  frames: Uint8Array[],
  signal: AbortSignal,
) => Promise<{ fields: Fields; tokens: TokenUse }>;

export type PictureVisionSettings = {
  provider: string;
  model: string;
  chat: Chat;
  /** Contact sheets for windows with more samples than the maximum images. */
  sheets: ContactSheets;
  /** Prompt of checks. */
  prompt?: PromptVariant | undefined;
};

/** Creates a vision model that takes pictures and no video. Its calls throw `VisionError`. */
export function createPictureVision(settings: PictureVisionSettings): VisionModel {
  const { provider, model, chat, sheets, prompt = defaultPrompt } = settings;
  /** False once the model has refused several frames, or its context was too small for them. */
  let takesFrames = true;
  return {
    provider,
    model,
    supportsVideo: false,
    usesPrevious: prompt.withPrevious,

    async judge(media, condition, signal) {
      const { frames, options } = selectFrames(media, prompt);
      const { fields, tokens } = await chat(judgeTask('frame', condition, options), frames, signal);
      return toVerdict(fields, tokens, prompt);
    },

    async judgeConditions(media, questions, signal) {
      const { frames, options } = selectFrames(media, prompt);
      const conditions = questions.map(({ condition }) => condition);
      const task = judgeConditionsTask('frame', conditions, options);
      const { fields, tokens } = await chat(task, frames, signal);
      return toConditionVerdicts(fields, questions, tokens, prompt);
    },

    async judgeMoments(frames, questions, options, signal) {
      if (!takesFrames) throw new TooManyFramesError();
      const conditions = questions.map(({ condition }) => condition);
      const { task, pictures } = judgeMomentsTask(frames, conditions, options, prompt);
      try {
        const { fields, tokens } = await chat(task, pictures, signal);
        return toMomentVerdicts(fields, frames.length, questions, tokens, prompt);
      } catch (cause) {
        if (!(cause instanceof PictureCountError || cause instanceof ContextError)) throw cause;
        takesFrames = false;
        throw new TooManyFramesError(cause);
      }
    },

    async answer(frame, question, signal) {
      const { fields, tokens } = await chat(answerTask(question), [frame], signal);
      return toAnswer(fields, tokens);
    },

    async summarize(samples, signal) {
      const pictures = await arrangeSamples(samples, maxImages, sheets, signal);
      const task = summaryTask(
        pictures.map(({ times }) => times),
        samples.length,
      );
      const frames = pictures.map(({ jpeg }) => jpeg);
      const { fields, tokens } = await chat(task, frames, signal);
      return toSummary(fields, tokens);
    },
  };
}

/** Returns the frames of a check, that of the check before first, if the prompt has it. */
function selectFrames({ frame, previous, regions }: CheckMedia, prompt: PromptVariant) {
  const hasPrevious = prompt.withPrevious && previous !== undefined;
  return { frames: hasPrevious ? [previous, frame] : [frame], options: { prompt, hasPrevious, regions } };
}
