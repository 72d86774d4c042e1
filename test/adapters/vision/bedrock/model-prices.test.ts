import { expect, test } from 'vitest';
import { findModelPrice } from '../../../../adapters/vision/aws-provider-registry.ts';

test.each(['objects', 'pixel', 'openai'])('a model of the provider %s costs nothing', (provider) => {
  expect(findModelPrice({ provider, model: 'amazon.nova-lite-v1:0' })).toMatchObject({ input: 0, output: 0 });
});

test('a model on Bedrock has its list price, with version and geography', () => {
  const price = findModelPrice({ provider: 'bedrock', model: 'eu.amazon.nova-lite-v1:0' });
  expect(price?.input).toBeCloseTo(0.06e-6, 12);
});

test('a model on Bedrock without a known price has none, so that no forecast calls it free', () => {
  expect(findModelPrice({ provider: 'bedrock', model: 'vendor.unknown-v1:0' })).toBeNull();
});
