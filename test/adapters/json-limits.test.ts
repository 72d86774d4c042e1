import { expect, test } from 'vitest';
import { exceedsJsonLimits } from '../../adapters/json-limits.ts';

test.each([
  ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`],
  ['brackets in a string', JSON.stringify({ a: '['.repeat(1000), b: '\\"['.repeat(1000) })],
  ['a string without end', `"${'['.repeat(1000)}`],
  ['10,001 values', JSON.stringify(Array.from({ length: 10_001 }, () => 1))],
])('a text of %s is within the limits', (_, text) => {
  expect(exceedsJsonLimits(text)).toBe(false);
});

test.each([
  ['65 levels', '['.repeat(65)],
  ['65 objects', '{"a":'.repeat(65)],
  ['a string of backslashes before them', `"\\\\",${'['.repeat(65)}`],
  ['10,002 values', '1,'.repeat(10_001)],
])('a text of %s exceeds them', (_, text) => {
  expect(exceedsJsonLimits(text)).toBe(true);
});
