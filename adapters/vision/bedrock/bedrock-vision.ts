import { VisionError } from '../../../core/vision-errors.ts';
import type { ContactSheets } from '../../../core/ports/stream-capturer.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import type { PromptVariant } from '../prompt-variants.ts';
import { createPromptedVision } from '../prompted-vision.ts';
import { converse, type ConverseClient } from './converse.ts';
import { defaultVideoModelId, modelFamily, type ModelFamily } from './model-families.ts';
import { defaultModelId, describeMissingModel } from './models.ts';

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
  ...settings
}: BedrockVisionDeps): VisionModel {
  const model = modelId ?? defaultVideoModelId;
  const family = requireImageSupport(model);
  const { supportsVideo, maxImages } = family;
  return createPromptedVision({
    provider: 'bedrock',
    model,
    supportsVideo,
    maxImages,
    ...settings,
    async ask(task, shown, signal) {
      const id = profileArn ?? modelId ?? requireDefaultModelId(await readRegion(client));
      return converse({ client, modelId: id, family }, task, shown, signal);
    },
  });
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
