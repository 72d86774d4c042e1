import { parseIsoTime } from '../../core/outside-time.ts';
import { TooManyFramesError, VisionError } from '../../core/vision-errors.ts';
import { selectEvenly } from '../../core/policies/digest/summarize-windows.ts';
import { type ContactSheets, maxTiles } from '../../core/ports/stream-capturer.ts';
import {
  alwaysLoaded,
  anyCondition,
  type Capabilities,
  type CheckMedia,
  type DescribedPicture,
  type VisionModel,
  type Sample,
} from '../../core/ports/vision-model.ts';
import type {
  ConditionQuestion,
  MomentVerdicts,
  PicturesAnswer,
  TokenUse,
} from '../../core/records/vision.ts';
import { rules } from '../../core/rules.ts';
import {
  toAnswer,
  answerTask,
  describing,
  judgeConditionsTask,
  judgeMomentsTask,
  judgeTask,
  toConditionVerdicts,
  toMomentVerdicts,
  summaryTask,
  toScene,
  toVerdict,
} from './prompt.ts';
import { defaultPrompt, type PromptVariant } from './prompt-variants.ts';
import { matchesTask, picturesTask, toMatches, toStatements, toWords, wordsTask } from './search-prompt.ts';
import { type AskModel, ContextError, type ModelTask, PictureCountError, type Shown } from './task.ts';
import { mapConcurrently } from './map-concurrently.ts';

/**
 * Maximum images per request of an unknown server. llama.cpp and Ollama slow down with more; vLLM has its own limit.
 */
const fewImages = 8;

export type PromptedVisionSettings = Pick<VisionModel, 'provider' | 'model'> &
  Partial<Pick<VisionModel, 'lifecycle'>> &
  Partial<Pick<Capabilities, 'supportsVideo' | 'callsAtOnce'>> & {
    ask: AskModel;
    /** Maximum images per request. */
    maxImages?: number;
    /** Contact sheets for windows with more samples than the maximum images. */
    sheets: ContactSheets;
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
  /** Asks a task of a check, and with it for a description if the check wants one. */
  const askCheck = async <Fields extends object>(
    task: ModelTask<Fields>,
    shown: Shown,
    { describes = false }: CheckMedia,
    signal: AbortSignal,
  ): Promise<{ fields: Fields & { scene?: string }; tokens: TokenUse }> =>
    describes ? ask(describing(task), shown, signal) : ask(task, shown, signal);

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
      const task = judgeTask(kind, only.condition, options);
      const { fields, tokens } = await askCheck(task, shown, media, signal);
      return { moments: [[toVerdict(fields, only, prompt)]], tokens, ...toScene(fields) };
    }
    const task = judgeConditionsTask(kind, questions, options);
    const { fields, tokens } = await askCheck(task, shown, media, signal);
    return { moments: [toConditionVerdicts(fields, questions, prompt)], tokens, ...toScene(fields) };
  }

  async function judgeMoments(
    media: CheckMedia,
    questions: readonly ConditionQuestion[],
    signal: AbortSignal,
  ): Promise<MomentVerdicts> {
    if (!takesFrames) throw new TooManyFramesError();
    const { task, pictures } = judgeMomentsTask(media, questions, prompt);
    try {
      const { fields, tokens } = await askCheck(task, { pictures }, media, signal);
      return { moments: toMomentVerdicts(fields, media, questions, prompt), tokens, ...toScene(fields) };
    } catch (cause) {
      if (!isTooMany(cause)) throw cause;
      takesFrames = false;
      throw new TooManyFramesError(cause);
    }
  }

  /** Asks about pictures, on contact sheets if they are more than `images`. */
  async function answerAbout(
    pictures: readonly DescribedPicture[],
    question: string,
    images: number,
    signal: AbortSignal,
  ): Promise<PicturesAnswer> {
    const shown = selectEvenly(pictures, images * maxTiles);
    const samples = shown.map(({ frame, time }) => {
      const takenMs = parseIsoTime(time) ?? 0;
      return { frame, capturedAt: new Date(takenMs) };
    });
    const arranged = await arrangeSamples(samples, images, sheets, signal);
    const tiles = arranged.map(({ times }) => times.length);
    const seen = { pictures: arranged.map(({ jpeg }) => jpeg) };
    const { fields, tokens } = await ask(picturesTask(question, shown, tiles), seen, signal);
    const statements = toStatements(fields).map(({ text, pictures: numbers }) => ({
      text,
      pictures: shown.flatMap((picture, index) =>
        numbers.includes(index + 1) ? 1 + pictures.indexOf(picture) : [],
      ),
    }));
    return { statements, shown: shown.length, tokens };
  }

  return {
    provider,
    model,
    capabilities: {
      ...anyCondition,
      supportsVideo,
      judgesMoments,
      usesPrevious,
      maxPictures: Math.min(maxImages, fewImages),
      callsAtOnce,
    },
    lifecycle,

    judge: async (media, questions, signal) =>
      media.earlier?.length ? judgeMoments(media, questions, signal) : judgeFrame(media, questions, signal),

    async answer(frame, question, signal) {
      const { fields, tokens } = await ask(answerTask(question), { pictures: [frame] }, signal);
      return toAnswer(fields, tokens);
    },

    async words(query, signal) {
      const { fields, tokens } = await ask(wordsTask(query), { pictures: [] }, signal);
      return { words: toWords(fields), tokens };
    },

    async matches(pictures, query, signal) {
      if (!takesFrames && pictures.length > 1)
        throw new VisionError('Show one picture a call.', { calls: [] });
      try {
        const shown = { pictures: [...pictures] };
        const { fields, tokens } = await ask(matchesTask(query, pictures.length), shown, signal);
        return { matches: toMatches(fields, pictures.length), tokens };
      } catch (error) {
        if (isTooMany(error) && pictures.length > 1) takesFrames = false;
        throw error;
      }
    },

    async answerAbout(pictures, question, signal) {
      try {
        return await answerAbout(pictures, question, takesFrames ? maxImages : 1, signal);
      } catch (error) {
        if (!isTooMany(error) || !takesFrames) throw error;
        takesFrames = false;
        return answerAbout(pictures, question, 1, signal);
      }
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

function isTooMany(error: unknown): error is PictureCountError | ContextError {
  return error instanceof PictureCountError || error instanceof ContextError;
}

/**
 * Selects what a model is shown of a check, the frame of the check before first if the prompt has it. A clip shows what
 * changed itself. Without a clip, the frame is shown.
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

/** Image for the model: one sample, or a contact sheet of several. */
type ModelImage = { jpeg: Uint8Array; times: Date[] };

const tileWidthPixels = 448;
/**
 * Maximum concurrent contact sheets. On AWS each is a call of `capture`; 20 sequential ones would exceed the 10 s
 * that a DELETE has for its summary. Each holds up to nine decoded images and takes one Lambda execution of the
 * account.
 */
const sheetsAtOnce = 4;

/**
 * Arranges the samples of a window on at most `maxImages` images: one each if possible, otherwise contact sheets
 * with as few tiles as possible. Drops samples evenly if they still do not fit. Throws `VisionError`.
 */
export async function arrangeSamples(
  samples: Sample[],
  maxImages: number,
  sheets: ContactSheets,
  signal: AbortSignal,
): Promise<ModelImage[]> {
  if (samples.length <= maxImages)
    return samples.map(({ frame, capturedAt }) => ({ jpeg: frame, times: [capturedAt] }));
  const tiles = Math.min(maxTiles, Math.ceil(samples.length / maxImages));
  const chosen = selectEvenly(samples, tiles * maxImages);
  const layout = { columns: Math.ceil(Math.sqrt(tiles)), tileWidthPixels };
  return mapConcurrently(inGroups(chosen, tiles), sheetsAtOnce, async (together) => ({
    jpeg: await sheets.make(together, layout, signal),
    times: together.map(({ capturedAt }) => capturedAt),
  }));
}

function inGroups(samples: Sample[], size: number): Sample[][] {
  const count = Math.ceil(samples.length / size);
  return Array.from({ length: count }, (_, index) => samples.slice(index * size, (index + 1) * size));
}
