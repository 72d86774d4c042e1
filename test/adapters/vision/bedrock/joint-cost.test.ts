import { expect, test } from 'vitest';
import { compareCalls } from '../../../../bench/conditions/compare-calls.ts';

test('three conditions in one call of Nova cost at most 1.3 times the input tokens of one, and 1.6 times the dollars', async () => {
  const { one, joint, separate } = await compareCalls();
  expect([one.calls, joint.calls, separate.calls]).toEqual([1, 1, 3]);
  expect(one.inputTokens).toBeGreaterThan(1000);
  expect(joint.inputTokens / one.inputTokens).toBeLessThanOrEqual(1.3);
  expect(joint.dollars / one.dollars).toBeLessThanOrEqual(1.6);
  expect(joint.dollars / separate.dollars).toBeLessThan(0.5);
});
