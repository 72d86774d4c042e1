import { expect, test } from 'vitest';
import { extractCutJson, extractJson } from '../../../adapters/vision/extract-json.ts';

const long = 500_000;

test.each([
  ['open braces', '{'.repeat(long)],
  ['nested objects', '{'.repeat(long) + '}'.repeat(long)],
  ['open texts', '{"'.repeat(long)],
  ['objects that are no JSON', '{a}'.repeat(long)],
  ['open lists', '{"a":'.repeat(30) + '['.repeat(long) + ']'.repeat(long)],
  ['open thoughts', '<think>{'.repeat(long)],
])('a megabyte of %s is no object, and costs no more than its length', (_, text) => {
  expect([extractJson(text), extractCutJson(text)]).toEqual([undefined, undefined]);
});

test('an object is found behind thirty braces of prose, whole or cut', () => {
  const prose = 'if (x) { y } '.repeat(30);
  expect(extractJson(`${prose}{"triggered":true}`)).toEqual({ triggered: true });
  expect(extractCutJson(`${prose}{"triggered":true,"explanation":"A va`)).toEqual({
    triggered: true,
    explanation: 'A va…',
  });
});
