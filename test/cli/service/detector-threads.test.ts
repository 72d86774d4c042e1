import { expect, test } from 'vitest';
import { chooseThreads } from '../../../cli/service/vision-model.ts';

test.each([
  [1, 8e9, 1],
  [2, 8e9, 2],
  [16, 64e9, 2],
  [4, 1e9, 1],
])('%i cores with %d bytes of memory have %i threads for the object model', (cores, memoryBytes, threads) => {
  expect(chooseThreads({ cores, memoryBytes })).toBe(threads);
});
