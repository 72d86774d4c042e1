import { expect, test } from 'vitest';
import { modelFamily } from '../../../../adapters/vision/bedrock/model-families.ts';

test.each([
  ['amazon.nova-lite-v1:0', 'Nova', true, 20],
  ['us.amazon.nova-pro-v1:0', 'Nova', true, 20],
  ['global.amazon.nova-2-lite-v1:0', 'Nova 2 Lite', true, 5],
  ['eu.amazon.nova-micro-v1:0', 'Nova without images', true, 0],
  ['us-gov.anthropic.claude-3-7-sonnet-20250219-v1:0', 'Claude 3 to 4.6', false, 20],
  ['us.anthropic.claude-sonnet-4-20250514-v1:0', 'Claude 3 to 4.6', false, 20],
  ['global.anthropic.claude-haiku-4-5-20251001-v1:0', 'Claude 3 to 4.6', false, 20],
  ['global.anthropic.claude-opus-4-7', 'Claude 4.7 and later', false, 20],
  ['anthropic.claude-v2:1', 'Claude 2', false, 0],
  ['us.meta.llama4-maverick-17b-instruct-v1:0', 'Llama 4', false, 5],
  ['meta.llama3-2-11b-instruct-v1:0', 'Llama 3.2 11B', false, 1],
  ['meta.llama3-70b-instruct-v1:0', 'Llama without images', false, 0],
  ['arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0', 'Nova', true, 20],
  ['arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0', 'Nova', true, 20],
  ['qwen.qwen3-vl-235b-a22b', 'unknown', false, 5],
])('the family of %s is %s', (modelId, name, video, pictures) => {
  const family = modelFamily(modelId);
  expect(family).toMatchObject({ name, maxImages: pictures });
  if (pictures > 0) expect(family.supportsVideo).toBe(video);
});

test('a model without image support does not support video', () => {
  expect(modelFamily('amazon.nova-micro-v1:0').supportsVideo).toBe(false);
});
