import { expect, test } from 'vitest';
import {
  createByteRate,
  createByteTotal,
} from '../../../../../adapters/media/rtsp/connection/rtsp-client.ts';

test('a total admits its maximum once', () => {
  const admits = createByteTotal(10);
  expect([admits(4, 9), admits(6, 9), admits(1, 9)]).toEqual([true, true, false]);
});

test('a rate admits a burst and then its mean, without an end', () => {
  let nowMs = 0;
  const admits = createByteRate({ maxBytesPerSecond: 100, maxBurstBytes: 300, elapsedMs: () => nowMs });
  expect(admits(300, 0)).toBe(true);
  for (let second = 1; second <= 1000; second += 1) {
    nowMs = second * 1000;
    expect(admits(100, 0)).toBe(true);
  }
  expect(admits(1, 0)).toBe(false);
  nowMs += 3_600_000;
  expect(admits(301, 0)).toBe(false);
});

test('a rate counts each packet as 500 bytes, so that tiny ones reach it too', () => {
  const admits = createByteRate({ maxBytesPerSecond: 100, maxBurstBytes: 5100, elapsedMs: () => 0 });
  expect([admits(50, 5), admits(50, 5), admits(1, 0)]).toEqual([true, true, false]);
});
