import { expect, test } from 'vitest';
import {
  findModelPrice,
  visionProviders,
  visionProviderSchema,
} from '../../../adapters/vision/aws-provider-registry.ts';

const stack = { region: 'eu-central-1', partition: 'aws', account: '123456789012' };
const { bedrock } = visionProviders;

test('a provider name that the table does not have is rejected with the known names', () => {
  expect(visionProviderSchema.parse('bedrock')).toBe('bedrock');
  expect(visionProviderSchema.safeParse('toString').error?.issues[0]?.message).toBe('must be one of bedrock');
});

test('an inference profile permits its model in all regions, only through the profile', () => {
  const [profile, model] = bedrock.listPermissions({ modelId: 'eu.amazon.nova-lite-v1:0' }, stack);
  const arn = 'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0';
  expect(profile?.resources).toEqual([arn]);
  expect(model).toMatchObject({
    resources: ['arn:aws:bedrock:*::foundation-model/amazon.nova-lite-v1:0'],
    conditions: { StringEquals: { 'bedrock:InferenceProfileArn': arn } },
    wildcardReason: expect.stringContaining('only through this profile'),
  });
});

test('a model without a profile is permitted in its region alone', () => {
  const settings = { modelId: 'amazon.nova-lite-v1:0', bedrockRegion: 'us-east-1' };
  expect(bedrock.listPermissions(settings, stack)).toEqual([
    {
      actions: ['bedrock:InvokeModel'],
      resources: ['arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0'],
    },
  ]);
});

test('a stage without settings of its model uses the default of its region', () => {
  expect(bedrock.readStage({}, 'eu-central-1')).toEqual({
    modelId: 'eu.amazon.nova-lite-v1:0',
    region: 'eu-central-1',
    environment: {
      BEDROCK_REGION: 'eu-central-1',
      BEDROCK_ENDPOINT: undefined,
      BEDROCK_PROFILE_ARN: undefined,
    },
  });
  expect(bedrock.describeModel()).toMatchObject({ provider: 'bedrock', supportsVideo: true });
});

const arn = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3';

test('calls name an application inference profile, whose model decides capabilities and price', () => {
  const settings = { modelId: arn, bedrockModelId: 'eu.amazon.nova-lite-v1:0' };
  expect(bedrock.readStage(settings, 'eu-central-1')).toMatchObject({
    modelId: 'eu.amazon.nova-lite-v1:0',
    environment: { BEDROCK_PROFILE_ARN: arn },
  });
  expect(bedrock.listPermissions(settings, stack)).toMatchObject([
    { resources: [arn] },
    {
      resources: ['arn:aws:bedrock:*::foundation-model/amazon.nova-lite-v1:0'],
      conditions: { StringEquals: { 'bedrock:InferenceProfileArn': arn } },
    },
  ]);
});

test('an application inference profile of a model in one region permits the model there alone', () => {
  const settings = { modelId: arn, bedrockModelId: 'amazon.nova-lite-v1:0' };
  const [, model] = bedrock.listPermissions(settings, stack);
  expect(model).toEqual({
    actions: ['bedrock:InvokeModel'],
    resources: ['arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-lite-v1:0'],
    conditions: { StringEquals: { 'bedrock:InferenceProfileArn': arn } },
  });
});

test.each([
  [{ modelId: arn }, 'Set bedrockModelId'],
  [{ bedrockModelId: 'amazon.nova-lite-v1:0' }, 'set its ARN as modelId'],
  [
    { modelId: arn, bedrockModelId: 'amazon.nova-lite-v1:0', bedrockRegion: 'us-east-1' },
    'is in eu-central-1',
  ],
])('the stage %j does not fit an application inference profile', (settings, message) => {
  expect(() => bedrock.readStage(settings, 'eu-central-1')).toThrow(message);
});

test('two models cost what the second one costs', () => {
  const [paid, own] = ['amazon.nova-lite-v1:0', 'llava'];
  expect(findModelPrice({ provider: 'objects+bedrock', model: `objects+${paid}` })).toEqual(
    findModelPrice({ provider: 'bedrock', model: paid }),
  );
  expect(findModelPrice({ provider: 'objects+openai', model: `objects+${own}` })?.input).toBe(0);
});
