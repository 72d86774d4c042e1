import type { VisionModel } from '../../../core/ports/vision-model.ts';
import type { VisionFactoryDeps } from '../aws-provider.ts';
import { createBedrockClient } from './bedrock-client.ts';
import { createBedrockVision } from './bedrock-vision.ts';

type Settings = {
  MODEL_ID?: string | undefined;
  BEDROCK_REGION?: string | undefined;
  BEDROCK_ENDPOINT?: string | undefined;
  BEDROCK_PROFILE_ARN?: string | undefined;
};

/**
 * Creates the model from the settings of `analyze`. The bundler omits this file and its imports from other functions.
 */
export function createModel(settings: Settings, deps: VisionFactoryDeps): VisionModel {
  const { BEDROCK_REGION: region, BEDROCK_ENDPOINT: endpoint, MODEL_ID: modelId } = settings;
  const { BEDROCK_PROFILE_ARN: profileArn } = settings;
  const client = createBedrockClient({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
  });
  return createBedrockVision({
    client,
    ...deps,
    ...(modelId !== undefined && { modelId }),
    ...(profileArn !== undefined && { profileArn }),
  });
}
