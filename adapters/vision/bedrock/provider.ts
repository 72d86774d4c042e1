import { z } from 'zod';
import type { DescribedModel, VisionPermission, VisionProvider } from '../provider.ts';
import { createModel } from './create-model.ts';
import { defaultVideoModelId, modelFamily } from './model-families.ts';
import { priceOfModel } from './model-prices.ts';
import { defaultModelId, describeLifecycle, describeMissingModel } from './model-regions.ts';

/** Environment variables of `analyze`. */
const settings = {
  /** Region of the model. Default: the region of the function. */
  BEDROCK_REGION: z.string().min(1).optional(),
  /** Address that replaces the one of Bedrock, for tests. */
  BEDROCK_ENDPOINT: z.url().optional(),
};

const stageSettings = {
  /** Region of the model. Default: the region of the stack. */
  bedrockRegion: z.string().optional(),
  /** Address that replaces the one of Bedrock, for tests. */
  bedrockEndpoint: z.url().optional(),
};

type BedrockStage = {
  modelId?: string | undefined;
  bedrockRegion?: string | undefined;
  bedrockEndpoint?: string | undefined;
};

/** Amazon Bedrock. */
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
  return { provider: 'bedrock', model: modelId, supportsVideo: modelFamily(modelId).supportsVideo };
}

/**
 * Returns the model of a stage in a region, and the environment variables of `analyze`. Throws for a region without a known default model
 * and for a model past its end of life.
 */
function readStage({ modelId, bedrockRegion, bedrockEndpoint }: BedrockStage, region: string) {
  const modelRegion = bedrockRegion ?? region;
  const id = modelId ?? defaultModelId(modelRegion);
  if (id === undefined) throw new Error(describeMissingModel(modelRegion));
  const lifecycle = describeLifecycle(id, new Date());
  if (lifecycle?.level === 'error') throw new Error(lifecycle.message);
  return {
    modelId: id,
    region: modelRegion,
    ...(lifecycle && { warning: lifecycle.message }),
    environment: { BEDROCK_REGION: modelRegion, BEDROCK_ENDPOINT: bedrockEndpoint },
  };
}

/**
 * Lists the permissions to call the model of a stage. An inference profile (`eu.amazon.nova-lite-v1:0`) forwards to the
 * model in the regions of its geography. The policy permits the model in all regions, but only through the profile.
 */
function listPermissions(
  settings: BedrockStage,
  { region: stackRegion, partition, account }: { region: string; partition: string; account: string },
): VisionPermission[] {
  const { modelId, region } = readStage(settings, stackRegion);
  const model = modelId.replace(profilePrefix, '');
  const actions = ['bedrock:InvokeModel'];
  if (model === modelId) {
    return [{ actions, resources: [`arn:${partition}:bedrock:${region}::foundation-model/${model}`] }];
  }
  const profile = `arn:${partition}:bedrock:${region}:${account}:inference-profile/${modelId}`;
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
