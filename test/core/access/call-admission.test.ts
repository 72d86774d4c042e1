import { expect, test } from 'vitest';
import { callWindowMs, findRefusal } from '../../../core/access/call-admission.ts';

const limits = { perMinute: 2, atOnce: 3 };

test('a call below both limits is admitted', () => {
  expect(findRefusal({ beganMs: [0], running: 2 }, limits, 1_000)).toBeUndefined();
});

test('a call above the concurrency limit is refused for two seconds', () => {
  expect(findRefusal({ beganMs: [], running: 3 }, limits, 1_000)).toEqual({
    kind: 'refused',
    limit: 'concurrency',
    max: 3,
    retryAfterSeconds: 2,
  });
});

test('a call above the rate limit is refused until the oldest call leaves the window', () => {
  const use = { beganMs: [0, 500], running: 0 };
  expect(findRefusal(use, limits, 1_000)).toMatchObject({
    limit: 'per minute',
    max: 2,
    retryAfterSeconds: 59,
  });
  expect(findRefusal(use, limits, callWindowMs)).toMatchObject({ retryAfterSeconds: 1 });
});

test('a limit of 0 refuses no call', () => {
  const unlimited = { perMinute: 0, atOnce: 0 };
  expect(findRefusal({ beganMs: [0, 1, 2], running: 100 }, unlimited, 3)).toBeUndefined();
});
