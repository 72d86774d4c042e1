import { expect, test } from 'vitest';
import { leaveOut } from '../../../../adapters/media/scan/measure-scan.ts';

const capturedAt = new Date('2026-11-20T12:00:00Z');

test('a capture that cannot look back leaves out the time since the last one', () => {
  const { scan: found, position } = leaveOut(`a 5 ${capturedAt.getTime() - 30_000}`, capturedAt);
  expect(found).toMatchObject({ frames: [], coveredSeconds: 0, leftOutSeconds: 30 });
  expect(leaveOut(position, new Date(capturedAt.getTime() + 4000)).scan.leftOutSeconds).toBe(4);
  expect(leaveOut(null, capturedAt).scan.leftOutSeconds).toBe(0);
  expect(leaveOut('a 5 0', capturedAt).scan.leftOutSeconds).toBe(3600);
});
