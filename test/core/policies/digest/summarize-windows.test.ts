import { expect, test } from 'vitest';
import { selectEvenly } from '../../../../core/policies/digest/summarize-windows.ts';

test.each([
  [3, 5, [0, 1, 2]],
  [5, 5, [0, 1, 2, 3, 4]],
  [9, 5, [0, 2, 4, 6, 8]],
  [6, 5, [0, 1, 3, 4, 5]],
  [20, 2, [0, 19]],
])('selectEvenly reduces %i samples to at most %i, with the first and the last', (count, max, chosen) => {
  expect(
    selectEvenly(
      Array.from({ length: count }, (_, at) => at),
      max,
    ),
  ).toEqual(chosen);
});
