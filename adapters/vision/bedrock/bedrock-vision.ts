import { VisionError } from '../../../core/errors.ts';
import type { ContactSheets } from '../../../core/ports/contact-sheets.ts';
import type { CheckMedia, VisionModel } from '../../../core/ports/vision-model.ts';
import { rules } from '../../../core/rules.ts';
import { arrangeSamples } from '../arrange-samples.ts';
import {
  toAnswer,
  answerTask,
  judgeConditionsTask,
  judgeMomentsTask,
  judgeTask,
  type CheckMediaKind,
  toConditionVerdicts,
  toMomentVerdicts,
  toSummary,
  summaryTask,
  toVerdict,
} from '../prompt.ts';
import { defaultPrompt, type PromptVariant } from '../prompt-variants.ts';
import type { ModelTask } from '../task.ts';
import { converse, type ConverseClient, type Media } from './converse.ts';
import { defaultVideoModelId, modelFamily, type ModelFamily } from './model-families.ts';
import { defaultModelId, describeMissingModel } from './model-regions.ts';

type BedrockVisionDeps = {
  /** Client with retries (`createBedrockClient`). */
  client: ConverseClient;
  /**
   * Id of a model or inference profile, or the ARN of either. Default: `defaultModelId` for the region of the
   * client.
   */
  modelId?: string;
  /** Application inference profile of the model, which calls name instead. */
  profileArn?: string;
  /** Contact sheets for windows with more samples than the maximum images of the model. */
  sheets: ContactSheets;
  /** Prompt of checks. */
  prompt?: PromptVariant;
};

/**
 * Creates a vision model on Bedrock Converse. Its calls throw `VisionError`; creation throws it for a model without
 * image support.
 */
export function createBedrockVision({
  client,
  modelId,
  profileArn,
  sheets,
  prompt = defaultPrompt,
}: BedrockVisionDeps): VisionModel {
  const model = modelId ?? defaultVideoModelId;
  const family = requireImageSupport(model);
  const ask = async <Fields>(task: ModelTask<Fields>, media: Media[], signal: AbortSignal) => {
    const id = profileArn ?? modelId ?? requireDefaultModelId(await readRegion(client));
    return converse({ client, modelId: id, family }, task, media, signal);
  };
  const judgeMoments: VisionModel['judgeMoments'] = async (frames, questions, options, signal) => {
    const conditions = questions.map(({ condition }) => condition);
    const { task, pictures } = judgeMomentsTask(frames, conditions, options, prompt);
    const media = pictures.map((jpeg) => ({ jpeg }));
    const { fields, tokens } = await ask(task, media, signal);
    return toMomentVerdicts(fields, frames.length, questions, tokens, prompt);
  };
  return {
    provider: 'bedrock',
    model,
    supportsVideo: family.supportsVideo,
    usesPrevious: prompt.withPrevious,

    async judge(look, condition, signal) {
      const { media, shown, options } = selectMedia(look, prompt);
      const { fields, tokens } = await ask(judgeTask(shown, condition, options), media, signal);
      return toVerdict(fields, tokens, prompt);
    },

    async judgeConditions(look, questions, signal) {
      const { media, shown, options } = selectMedia(look, prompt);
      const conditions = questions.map(({ condition }) => condition);
      const task = judgeConditionsTask(shown, conditions, options);
      const { fields, tokens } = await ask(task, media, signal);
      return toConditionVerdicts(fields, questions, tokens, prompt);
    },

    ...(family.maxImages > rules.maxEarlierMoments + (prompt.withPrevious ? 1 : 0) && { judgeMoments }),

    async answer(frame, question, signal) {
      const { fields, tokens } = await ask(answerTask(question), [{ jpeg: frame }], signal);
      return toAnswer(fields, tokens);
    },

    async summarize(samples, signal) {
      const pictures = await arrangeSamples(samples, family.maxImages, sheets, signal);
      const task = summaryTask(
        pictures.map(({ times }) => times),
        samples.length,
      );
      const { fields, tokens } = await ask(task, pictures, signal);
      return toSummary(fields, tokens);
    },
  };
}

function requireImageSupport(model: string): ModelFamily {
  const family = modelFamily(model);
  if (family.maxImages > 0) return family;
  throw new VisionError(
    `${model} does not support images. Configure a model with image support, such as ${defaultVideoModelId}.`,
  );
}

function requireDefaultModelId(region: string): string {
  const id = defaultModelId(region);
  if (id === undefined) throw new VisionError(describeMissingModel(region));
  return id;
}

async function readRegion(client: ConverseClient): Promise<string> {
  try {
    return await client.config.region();
  } catch (error) {
    throw new VisionError(
      'No AWS region is configured. Set AWS_REGION to a region where Bedrock offers the model.',
      {
        cause: error,
      },
    );
  }
}

/** Returns the media of a check, the frame of the check before first, if the prompt has it. A clip shows what changed itself. */
function selectMedia(look: CheckMedia, prompt: PromptVariant) {
  const media = toMedia(look);
  const shown = shownBy(media);
  const previous = prompt.withPrevious && shown === 'frame' ? look.previous : undefined;
  return {
    media: previous === undefined ? media : [{ jpeg: previous }, ...media],
    shown,
    options: { prompt, hasPrevious: previous !== undefined, regions: look.regions },
  };
}

/** Returns the media for a check. Without a clip, the frame is used. */
function toMedia({ mode, frame, clip }: CheckMedia): Media[] {
  if (mode === 'frames' || clip === undefined) return [{ jpeg: frame }];
  return mode === 'clip' ? [{ mp4: clip }] : [{ jpeg: frame }, { mp4: clip }];
}

function shownBy(media: Media[]): CheckMediaKind {
  const clip = media.some((medium) => 'mp4' in medium);
  const frame = media.some((medium) => 'jpeg' in medium);
  if (clip) return frame ? 'frame and clip' : 'clip';
  return 'frame';
}
