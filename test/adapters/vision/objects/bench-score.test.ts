import { expect, test } from 'vitest';
import type { Detection } from '../../../../adapters/vision/objects/detector.ts';
import { countFalseFrames, parseLabels, scoreClasses } from '../../../../bench/objects/score.ts';

const box = { x: 0, y: 0, width: 0.1, height: 0.1 };
const detections = (object: Detection['object'], ...scores: number[]) =>
  scores.map((score) => ({ object, score, box }));

test('A score has recall of whole objects, precision without partial ones, and false frames', () => {
  const labels = parseLabels(
    [
      '{"file":"a.gif","seconds":0,"objects":{"person":2},"partial":{"person":1}}',
      '{"file":"a.gif","seconds":1,"objects":{"person":1}}',
      '{"file":"b.jpg","objects":{},"ignore":["chair"]}',
    ].join('\n'),
  );
  const found = [
    detections('person', 0.9, 0.5, 0.4, 0.35),
    detections('person', 0.2),
    [...detections('person', 0.31), ...detections('chair', 0.9)],
  ];
  const judged = labels.map((label, at) => ({ label, detections: found[at] ?? [] }));
  expect(scoreClasses(judged, 0.3)).toEqual([
    {
      object: 'person',
      threshold: 0.3,
      whole: 3,
      found: 2,
      reported: 5,
      excess: 2,
      emptyFrames: 1,
      falseFrames: 1,
    },
  ]);
});

test('A line that is no label is named', () => {
  expect(() =>
    parseLabels('{"file":"a.gif","objects":{}}\n{"file":"a.gif","objects":{"unicorn":1}}'),
  ).toThrow('Line 2 of the labels is no label');
});

test('A frame with an object of a class that is neither labelled nor ignored is false, persons apart', () => {
  const [label] = parseLabels('{"file":"a.jpg","objects":{"cat":1},"ignore":["chair"]}');
  if (label === undefined) throw new Error('no label');
  const seen = [detections('cat', 0.9), detections('chair', 0.9), detections('person', 0.9)].flat();
  const judged = [
    { label, detections: seen },
    { label, detections: [...seen, ...detections('dog', 0.3)] },
  ];
  expect(countFalseFrames(judged, 0.3)).toBe(1);
  expect(countFalseFrames(judged, 0.4)).toBe(0);
});
