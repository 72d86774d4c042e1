import { z } from 'zod';
import { anyCondition } from '../../../core/ports/vision-model.ts';
import { rules } from '../../../core/rules.ts';
import type { DescribedModel, VisionPermission, VisionProvider } from '../aws-provider.ts';
import { createModel } from './create-model.ts';
import { defaultVideoModelId, modelFamily } from './model-families.ts';
import { priceOfModel, defaultModelId, describeMissingModel } from './models.ts';

/** Environment variables of `analyze`. */
const settings = {
  /** Region of the model. Default: the region of the function. */
  BEDROCK_REGION: z.string().min(1).optional(),
  /** Address that replaces the one of Bedrock, for tests. */
  BEDROCK_ENDPOINT: z.url().optional(),
  /** ARN of the application inference profile that calls are made through. Default: the model itself. */
  BEDROCK_PROFILE_ARN: z.string().min(1).optional(),
};

const stageSettings = {
  /** Region of the model. Default: the region of the stack. */
  bedrockRegion: z.string().optional(),
  /** Address that replaces the one of Bedrock, for tests. */
  bedrockEndpoint: z.url().optional(),
  /**
   * Model or inference profile that an application inference profile in `modelId` is a copy of: its ARN does not name
   * it.
   */
  bedrockModelId: z
    .string()
    .regex(/^(?!arn:)[\w.:-]+$/, 'must be the id of a model or of an inference profile, not an ARN')
    .optional(),
};

type BedrockStage = {
  modelId?: string | undefined;
  bedrockModelId?: string | undefined;
  bedrockRegion?: string | undefined;
  bedrockEndpoint?: string | undefined;
};

export const bedrockProvider = {
  settings,
  stageSettings,
  describeModel,
  findPrice: priceOfModel,
  readStage,
  listPermissions,
  createModel,
} satisfies VisionProvider;

/** Returns the model and its capabilities. Default: the cheapest model that supports video. */
function describeModel(modelId = defaultVideoModelId): DescribedModel {
  const { supportsVideo, maxImages } = modelFamily(modelId);
  const judgesMoments = maxImages > rules.maxEarlierMoments;
  const maxPictures = Math.min(maxImages, anyCondition.maxPictures);
  return { provider: 'bedrock', model: modelId, supportsVideo, judgesMoments, maxPictures };
}

/**
 * Returns the model of a stage in a region, and the environment variables of `analyze`. Throws for a region without a
 * known default model.
 */
function readStage(stage: BedrockStage, region: string) {
  const { bedrockRegion, bedrockEndpoint } = stage;
  const modelRegion = bedrockRegion ?? region;
  const profileArn = readProfileArn(stage, modelRegion);
  const id = (profileArn === undefined ? stage.modelId : stage.bedrockModelId) ?? defaultModelId(modelRegion);
  if (id === undefined) throw new Error(describeMissingModel(modelRegion));
  return {
    modelId: id,
    region: modelRegion,
    environment: {
      BEDROCK_REGION: modelRegion,
      BEDROCK_ENDPOINT: bedrockEndpoint,
      BEDROCK_PROFILE_ARN: profileArn,
    },
  };
}

/** Returns the ARN of an application inference profile in `modelId`. Throws if the stage does not fit it. */
function readProfileArn({ modelId, bedrockModelId }: BedrockStage, region: string): string | undefined {
  if (modelId === undefined || !modelId.startsWith('arn:')) {
    if (bedrockModelId === undefined) return undefined;
    throw new Error('bedrockModelId is for an application inference profile: set its ARN as modelId.');
  }
  if (bedrockModelId === undefined)
    throw new Error(
      'The ARN of an application inference profile does not name its model. Set bedrockModelId to the model or profile that it was made of.',
    );
  const profileRegion = modelId.split(':')[3];
  if (profileRegion !== region)
    throw new Error(`The profile in modelId is in ${profileRegion}. Set bedrockRegion to that region.`);
  return modelId;
}

/**
 * Lists the permissions to call the model of a stage. An inference profile (`eu.amazon.nova-lite-v1:0`) forwards to the
 * model in the regions of its geography. The policy permits the model in all regions, but only through the profile.
 */
function listPermissions(
  stage: BedrockStage,
  { region: stackRegion, partition, account }: { region: string; partition: string; account: string },
): VisionPermission[] {
  const { modelId, region, environment } = readStage(stage, stackRegion);
  const model = modelId.replace(profilePrefix, '');
  const actions = ['bedrock:InvokeModel'];
  const application = environment.BEDROCK_PROFILE_ARN;
  if (application !== undefined && model === modelId)
    return [
      { actions, resources: [application] },
      {
        actions,
        resources: [`arn:${partition}:bedrock:${region}::foundation-model/${model}`],
        conditions: { StringEquals: { 'bedrock:InferenceProfileArn': application } },
      },
    ];
  if (model === modelId) {
    return [{ actions, resources: [`arn:${partition}:bedrock:${region}::foundation-model/${model}`] }];
  }
  const profile = application ?? `arn:${partition}:bedrock:${region}:${account}:inference-profile/${modelId}`;
  return [
    { actions, resources: [profile] },
    {
      actions,
      resources: [`arn:${partition}:bedrock:*::foundation-model/${model}`],
      conditions: { StringEquals: { 'bedrock:InferenceProfileArn': profile } },
      wildcardReason:
        'The profile selects a region of its geography, and AWS adds regions; the condition permits the model only through this profile.',
    },
  ];
}

/** Geography prefix of an inference profile: `us.`, `eu.`, `apac.`, `us-gov.`, `global.`. */
const profilePrefix = /^[a-z]{2,6}(-gov)?\.(?=[a-z0-9]+\.)/;
