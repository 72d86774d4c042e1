import { expect, test } from 'vitest';
import { clipFinding } from '../../../cli/checks/checks.ts';

test.each([
  [128, '128 MB: 5 streams of 4 Mbit/s in full, of more their newest seconds'],
  [0, 'no clips of alerts'],
])('doctor says what %i MB for clips carry', (clipMb, message) => {
  expect(clipFinding({ clipMb })).toMatchObject({ status: 'ok', message });
});
