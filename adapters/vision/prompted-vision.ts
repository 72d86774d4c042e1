import { TooManyFramesError } from '../../core/errors.ts';
import type { ContactSheets } from '../../core/ports/contact-sheets.ts';
import {
  alwaysLoaded,
  anyCondition,
  type Capabilities,
  type CheckMedia,
  type VisionModel,
} from '../../core/ports/vision-model.ts';
import type { ConditionQuestion, MomentVerdicts } from '../../core/records/vision.ts';
import { rules } from '../../core/rules.ts';
import { arrangeSamples } from './arrange-samples.ts';
import {
  toAnswer,
  answerTask,
  judgeConditionsTask,
  judgeMomentsTask,
  judgeTask,
  toConditionVerdicts,
  toMomentVerdicts,
  summaryTask,
  toVerdict,
} from './prompt.ts';
import { defaultPrompt, type PromptVariant } from './prompt-variants.ts';
import { type AskModel, ContextError, PictureCountError } from './task.ts';

/** Maximum images per request of an unknown server. llama.cpp and Ollama slow down with more; vLLM has its own limit. */
const fewImages = 8;

export type PromptedVisionSettings = Pick<VisionModel, 'provider' | 'model'> &
  Partial<Pick<VisionModel, 'lifecycle'>> &
  Partial<Pick<Capabilities, 'supportsVideo' | 'callsAtOnce'>> & {
    ask: AskModel;
    /** Maximum images per request. */
    maxImages?: number;
    /** Contact sheets for windows with more samples than the maximum images. */
    sheets: ContactSheets;
    /** Prompt of checks. */
    prompt?: PromptVariant | undefined;
  };

/** Creates a vision model of one that follows prompts. Its calls throw `VisionError`. */
export function createPromptedVision({
  provider,
  model,
  lifecycle = alwaysLoaded,
  supportsVideo = false,
  callsAtOnce = null,
  maxImages = fewImages,
  ask,
  sheets,
  prompt = defaultPrompt,
}: PromptedVisionSettings): VisionModel {
  const usesPrevious = prompt.withPrevious;
  const judgesMoments = maxImages > rules.maxEarlierMoments + (usesPrevious ? 1 : 0);
  /** False once the model has refused several frames, or its context was too small for them. */
  let takesFrames = true;

  async function judgeFrame(
    media: CheckMedia,
    questions: readonly ConditionQuestion[],
    signal: AbortSignal,
  ): Promise<MomentVerdicts> {
    const { shown, kind, options } = selectMedia(media, prompt, supportsVideo);
    const [only, ...others] = questions;
    if (only !== undefined && others.length === 0) {
      const { fields, tokens } = await ask(judgeTask(kind, only.condition, options), shown, signal);
      return { moments: [[toVerdict(fields, only, prompt)]], tokens };
    }
    const { fields, tokens } = await ask(judgeConditionsTask(kind, questions, options), shown, signal);
    return { moments: [toConditionVerdicts(fields, questions, prompt)], tokens };
  }

  async function judgeMoments(
    media: CheckMedia,
    questions: readonly ConditionQuestion[],
    signal: AbortSignal,
  ): Promise<MomentVerdicts> {
    if (!takesFrames) throw new TooManyFramesError();
    const { task, pictures } = judgeMomentsTask(media, questions, prompt);
    try {
      const { fields, tokens } = await ask(task, { pictures }, signal);
      return { moments: toMomentVerdicts(fields, media, questions, prompt), tokens };
    } catch (cause) {
      if (!(cause instanceof PictureCountError || cause instanceof ContextError)) throw cause;
      takesFrames = false;
      throw new TooManyFramesError(cause);
    }
  }

  return {
    provider,
    model,
    capabilities: { ...anyCondition, supportsVideo, judgesMoments, usesPrevious, callsAtOnce },
    lifecycle,

    judge: async (media, questions, signal) =>
      media.earlier?.length ? judgeMoments(media, questions, signal) : judgeFrame(media, questions, signal),

    async answer(frame, question, signal) {
      const { fields, tokens } = await ask(answerTask(question), { pictures: [frame] }, signal);
      return toAnswer(fields, tokens);
    },

    async summarize(samples, signal) {
      const arranged = await arrangeSamples(samples, maxImages, sheets, signal);
      const task = summaryTask(
        arranged.map(({ times }) => times),
        samples.length,
      );
      const { fields, tokens } = await ask(task, { pictures: arranged.map(({ jpeg }) => jpeg) }, signal);
      return { ...fields, tokens };
    },
  };
}

/**
 * Selects what a model is shown of a check, the frame of the check before first if the prompt has it. A clip shows what changed itself. Without a
 * clip, the frame is shown.
 */
function selectMedia(
  { mode, frame, clip: taken, previous, regions }: CheckMedia,
  prompt: PromptVariant,
  supportsVideo: boolean,
) {
  const clip = supportsVideo && mode !== 'frames' ? taken : undefined;
  const before = prompt.withPrevious && clip === undefined && previous ? [previous] : [];
  const frames = clip !== undefined && mode === 'clip' ? [] : [...before, frame];
  const kind = clip === undefined ? 'frame' : frames.length === 0 ? 'clip' : 'frame and clip';
  return {
    shown: { pictures: frames, clip },
    kind,
    options: { prompt, hasPrevious: before.length > 0, regions },
  } as const;
}
