import { expect, test } from 'vitest';
import {
  defaultModelId,
  describeMissingModel,
  modelRegions,
} from '../../../../adapters/vision/bedrock/models.ts';
import { bedrockProvider } from '../../../../adapters/vision/bedrock/provider.ts';

test.each([
  ['us-east-1', 'us.amazon.nova-lite-v1:0'],
  ['eu-central-1', 'eu.amazon.nova-lite-v1:0'],
  ['ap-southeast-2', 'apac.amazon.nova-lite-v1:0'],
  ['ca-central-1', 'ca.amazon.nova-lite-v1:0'],
  ['eu-west-2', 'amazon.nova-lite-v1:0'],
])('the default model in %s is %s', (region, modelId) => {
  expect(defaultModelId(region)).toBe(modelId);
});

test.each(['eu-central-2', 'ap-northeast-3', 'sa-east-1', 'me-central-1'])(
  'a stage in %s is rejected with settings that work, because the region has no default model',
  (region) => {
    expect(defaultModelId(region)).toBeUndefined();
    expect(() => bedrockProvider.readStage({}, region)).toThrow(describeMissingModel(region));
    expect(bedrockProvider.readStage({ modelId: 'global.acme.seer-v1' }, region)).toMatchObject({
      modelId: 'global.acme.seer-v1',
    });
    const [, named = ''] = /bedrockRegion to one of ([^,]+)/.exec(describeMissingModel(region)) ?? [];
    expect(bedrockProvider.readStage({ bedrockRegion: named }, region).modelId).toBe(defaultModelId(named));
  },
);

test('every region of the table has one default model', () => {
  expect(new Set(modelRegions).size).toBe(modelRegions.length);
});
