import { Stack } from 'aws-cdk-lib';
import type { ServiceFunction } from './service-function.ts';

type Model = { modelId: string; region: string };

/**
 * Grants calls of one Bedrock model. An inference profile (`eu.amazon.nova-lite-v1:0`) forwards to the model in the
 * regions of its geography. The policy permits the model in all regions, but only through the profile.
 */
export function allowModel(to: ServiceFunction, { modelId, region }: Model): void {
  const { partition, account } = Stack.of(to);
  const model = modelId.replace(profilePrefix, '');
  if (model === modelId) {
    to.allow(['bedrock:InvokeModel'], [`arn:${partition}:bedrock:${region}::foundation-model/${model}`]);
    return;
  }
  const profile = `arn:${partition}:bedrock:${region}:${account}:inference-profile/${modelId}`;
  to.allow(['bedrock:InvokeModel'], [profile]);
  to.allow(['bedrock:InvokeModel'], [`arn:${partition}:bedrock:*::foundation-model/${model}`], {
    conditions: { StringEquals: { 'bedrock:InferenceProfileArn': profile } },
    wildcardReason:
      'The profile selects a region of its geography, and AWS adds regions; the condition permits the model only through this profile.',
  });
}

/** Geography prefix of an inference profile: `us.`, `eu.`, `apac.`, `us-gov.`, `global.`. */
const profilePrefix = /^[a-z]{2,6}(-gov)?\.(?=[a-z0-9]+\.)/;
