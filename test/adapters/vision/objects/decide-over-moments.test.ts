import { expect, test } from 'vitest';
import { countNextReads } from '../../../../adapters/vision/objects/judge-objects.ts';

/** Returns the sizes of the reads of a clip in which the frames hold, in the order of reading. */
function readSizes(holds: boolean[], needed: number): number[] {
  const sizes: number[] = [];
  for (let left = holds.length; left > 0;) {
    const holding = holds.slice(0, holds.length - left).filter(Boolean).length;
    const reads = countNextReads({ count: holds.length, left, needed, holding });
    if (reads === 0) break;
    sizes.push(reads);
    left -= reads;
  }
  return sizes;
}

const [yes, no] = [true, false];

test.each<[string, boolean[], number, number[]]>([
  ['two that hold', [yes, yes, yes, yes, yes, yes, yes], 2, [2]],
  ['none that holds', [no, no, no, no, no, no, no], 2, [2, 2, 2]],
  ['none of an even number', [no, no, no, no, no, no], 2, [2, 2, 1]],
  ['one that holds, then a second', [yes, no, no, yes, no, no, no], 2, [2, 1, 1]],
  ['one that holds', [no, yes, no, no, no], 2, [2, 1, 1, 1]],
  ['a single frame', [no], 1, [1]],
  ['two frames', [yes, yes], 2, [1, 1]],
])('a presence in %s reads no frame that the decision does not need', (_, holds, needed, sizes) => {
  expect(readSizes(holds, needed)).toEqual(sizes);
});

test('an absence reads the frame alone, and the rest in pairs as long as it holds', () => {
  expect(readSizes([yes, yes, yes, yes, yes], 5)).toEqual([1, 2, 2]);
  expect(readSizes([no, yes, yes, yes, yes], 5)).toEqual([1]);
  expect(readSizes([yes, yes, no, yes, yes], 5)).toEqual([1, 2]);
});
