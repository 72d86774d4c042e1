import type { z } from 'zod';
import type { ContactSheets } from '../../core/ports/stream-capturer.ts';
import type { PromptVariant } from './prompt-variants.ts';
import type { Capabilities, VisionModel } from '../../core/ports/vision-model.ts';

/**
 * Provider of models on AWS: a folder with `provider.ts`, which describes it, and `create-model.ts`, which imports its
 * client. The line of the folder in `aws-provider-list.ts` is the only other place that names it.
 */
export type VisionProvider = {
  /** Environment variables of `analyze`, with a prefix of the provider. */
  settings: z.ZodRawShape;
  /** Settings of a stage, with the same prefix. */
  stageSettings: z.ZodRawShape;
  /** Returns the capabilities of a model without a request. Default: the default model. */
  describeModel: (modelId?: string) => DescribedModel;
  /** Finds the price of a model. Returns undefined if unknown. */
  findPrice: (modelId: string) => ModelPrice | undefined;
  /** Reads the settings of a stage. Throws for a model that cannot be deployed to the region. */
  readStage: (settings: never, region: string) => StageModel;
  listPermissions: (
    settings: never,
    stack: { region: string; partition: string; account: string },
  ) => VisionPermission[];
  /**
   * Creates a model from the environment of `analyze`. Imported from `create-model.ts`, which other functions do not
   * bundle.
   */
  createModel: (settings: never, deps: VisionFactoryDeps) => VisionModel;
};

/**
 * Model as `/metrics` and job creation see it, known without a request. The stack writes it to an environment variable.
 */
export type DescribedModel = Pick<VisionModel, 'provider' | 'model'> &
  Pick<Capabilities, 'supportsVideo' | 'judgesMoments' | 'maxPictures'>;

export type StageModel = {
  modelId: string;
  /** Region in which the model is called. */
  region: string;
  /** Environment variables of `analyze`, by the names in `settings`. */
  environment: Record<string, string | undefined>;
};

/** IAM permission that the calls of a provider need. */
export type VisionPermission = {
  actions: string[];
  resources: string[];
  conditions?: Record<string, Record<string, unknown>>;
  /** Reason for a `*` in a resource. */
  wildcardReason?: string;
};

export type VisionFactoryDeps = {
  sheets: ContactSheets;
  prompt?: PromptVariant;
};

/** Price and token counts of a model. */
export type ModelPrice = {
  /** USD per token. */
  input: number;
  output: number;
  /** Tokens of an image of 896 × 504 px. */
  pictureTokens: number;
  /** Tokens per second of a clip; `null` if the model does not support video. */
  videoTokensPerSecond: number | null;
};
