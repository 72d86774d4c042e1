import { expect, test } from 'vitest';
import { parseLabelledSet, exampleName } from '../../../core/evaluation/labelled-set.ts';
import { percentile, score, wilson, type ExampleAnswers } from '../../../core/evaluation/score.ts';

function examples(count: number, expected: ExampleAnswers['expected'], ...answers: (boolean | null)[]) {
  return Array.from({ length: count }, () => ({ expected, answers }));
}

test('precision, recall and F1 count the majority of each example', () => {
  const result = score([
    ...examples(8, 'yes', true, true, false),
    ...examples(2, 'yes', false),
    ...examples(1, 'no', true),
    ...examples(9, 'no', false),
  ]);
  expect(result).toMatchObject({
    true_positives: 8,
    false_negatives: 2,
    false_positives: 1,
    true_negatives: 9,
  });
  expect(result.precision?.value).toBeCloseTo(8 / 9);
  expect(result.recall?.value).toBeCloseTo(0.8);
  expect(result.f1?.value).toBeCloseTo((2 * (8 / 9) * 0.8) / (8 / 9 + 0.8));
  expect(result.unstable).toBe(8);
});

test('a tie and a missing verdict count as no', () => {
  const result = score([...examples(1, 'yes', true, false), ...examples(1, 'yes', null)]);
  expect(result).toMatchObject({ true_positives: 0, false_negatives: 2, not_judged: 1 });
});

test('an unclear example changes neither precision nor recall', () => {
  const result = score([
    ...examples(1, 'yes', true),
    ...examples(3, 'unclear', true),
    ...examples(1, 'unclear', false),
  ]);
  expect(result.precision?.value).toBe(1);
  expect(result).toMatchObject({ examples: 5, unclear: 4, unclear_triggered: 3 });
});

test.each([
  // https://www.itl.nist.gov/div898/handbook/prc/section2/prc241.htm gives 4 of 20.
  { hits: 4, total: 20, low: 0.0807, high: 0.416 },
  { hits: 10, total: 10, low: 0.7225, high: 1 },
  { hits: 0, total: 10, low: 0, high: 0.2775 },
])('the interval of $hits of $total is from $low to $high', ({ hits, total, low, high }) => {
  expect(wilson(hits, total)?.low).toBeCloseTo(low, 3);
  expect(wilson(hits, total)?.high).toBeCloseTo(high, 3);
});

test('a share of nothing has no value', () => {
  expect(wilson(0, 0)).toBeNull();
  expect(score(examples(3, 'no', false))).toMatchObject({ precision: null, recall: null, f1: null });
});

test('a percentile is the nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([percentile(values, 0.5), percentile(values, 0.95), percentile([], 0.5)]).toEqual([50, 95, 0]);
});

test('a set has pictures and spans of videos, and ignores fields that it does not know', () => {
  const { examples: found, problems } = parseLabelledSet(
    [
      '{"picture":"a.jpg","condition":"it is red","expected":"yes","verdict":{"triggered":true}}',
      '',
      '{"video":"b.mp4","from_seconds":1,"to_seconds":4,"condition":"it is red","expected":null}',
    ].join('\n'),
  );
  expect(problems).toEqual([]);
  expect(found.map(exampleName)).toEqual(['a.jpg', 'b.mp4 1-4 s']);
});

test.each([
  ['not JSON', /it needs picture/],
  ['{"picture":"a.jpg","condition":"it is red","expected":"maybe"}', /expected/],
  [
    '{"video":"b.mp4","from_seconds":4,"to_seconds":1,"condition":"x","expected":"no"}',
    /from_seconds|it needs/,
  ],
])('the line %s is a problem with its number', (line, message) => {
  const { problems } = parseLabelledSet(`{"picture":"a.jpg","condition":"x","expected":"no"}\n${line}`);
  expect(problems).toEqual([{ line: 2, message: expect.stringMatching(message) }]);
});
