import { expect, test } from 'vitest';
import { describeLabels } from '../../../cli/evaluate/print-results.ts';

const example = { condition: 'a person', picture: 'a.jpg', tags: [] };
const [yes, no, unclear] = [
  { ...example, expected: 'yes' as const },
  { ...example, expected: 'no' as const },
  { ...example, expected: 'unclear' as const },
];

test('a set with both labels has its counts', () => {
  expect(describeLabels([yes, yes, no, unclear], ['frames'])).toEqual([
    '4 examples: 2 yes, 1 no, 1 unclear (counted apart).',
  ]);
});

test('a set without one of the labels says which measure it cannot give', () => {
  expect(describeLabels([yes], [])[1]).toMatch(/^No example is labelled no: false alarms are not measured/);
  expect(describeLabels([no], [])[1]).toMatch(/^No example is labelled yes: recall is not measured/);
});

test('pictures in a mode with clips are named, and spans of videos are not', () => {
  const span = { ...no, video: 'a.mp4', from_seconds: 0, to_seconds: 3 };
  const { picture: _, ...video } = span;
  expect(describeLabels([yes, no], ['frames', 'clip']).at(-1)).toBe(
    '2 examples are pictures without a clip: in mode clip the model gets the frame only.',
  );
  expect(describeLabels([video, { ...video, expected: 'yes' }], ['clip'])).toHaveLength(1);
});
