import { expect, test } from 'vitest';
import { createGopBuffer } from '../../../../../adapters/media/rtsp/session/gop-buffer.ts';

const clockRate = 90_000;

function unit(seconds: number, isKeyFrame = false, bytes = 88) {
  const timestamp = Math.round(seconds * clockRate) >>> 0;
  return { bytes: new Uint8Array(bytes), isKeyFrame, timestamp, arrivedMs: seconds * 1000 };
}

/** Fills a buffer with a stream of one frame per second and a key frame every `every` seconds. */
function play(from: number, to: number, { every = 2, keep = 0, maxBytes = 1e6 } = {}) {
  const buffer = createGopBuffer({ clockRate, maxBytes });
  buffer.keep(keep);
  for (let second = from; second <= to; second += 1) buffer.add(unit(second, (second - from) % every === 0));
  return buffer;
}

const seconds = (units: readonly { arrivedMs: number }[] | null) =>
  units?.map(({ arrivedMs }) => arrivedMs / 1000);

test('the buffer keeps the newest GOP', () => {
  const buffer = play(0, 5);
  expect(seconds(buffer.newestGop())).toEqual([4, 5]);
  expect(buffer.bytes()).toBe(1200);
});

test('units before the first key frame are dropped', () => {
  const buffer = createGopBuffer({ clockRate, maxBytes: 1e6 });
  buffer.add(unit(1));
  expect(buffer.newestGop()).toEqual([]);
  expect(buffer.bytes()).toBe(0);
});

test.each([
  [3, 9, [6, 7, 8, 9]],
  [3, 10, [6, 7, 8, 9, 10]],
  [0, 10, [10]],
  [1, 10, [8, 9, 10]],
])('a clip of %d s that ends at %d s begins with a key frame before it', (clipSeconds, to, units) => {
  const buffer = play(0, to, { keep: clipSeconds });
  expect(seconds(buffer.lastSeconds(clipSeconds))).toEqual(units);
  // No more is kept.
  expect(buffer.bytes()).toBe(600 * units.length);
});

test('a clip is missing until the buffer reaches back as far', () => {
  expect(play(0, 2, { keep: 3 }).lastSeconds(3)).toBeNull();
  expect(play(0, 10, { keep: 0 }).lastSeconds(3)).toBeNull();
});

test('timestamps wrap within a clip', () => {
  const wrap = 2 ** 32 / clockRate;
  const buffer = createGopBuffer({ clockRate, maxBytes: 1e6 });
  buffer.keep(3);
  for (const second of [-2, 0, 2]) buffer.add(unit(second < 0 ? wrap + second : second, true));
  expect(buffer.lastSeconds(3)).toHaveLength(3);
});

test.each([60, -60])('another clock of the encoder (%d s) empties the buffer', (step) => {
  const buffer = play(100, 105, { keep: 10 });
  buffer.add(unit(105 + step, true));
  expect(seconds(buffer.newestGop())).toEqual([105 + step]);
  expect(buffer.bytes()).toBe(600);
});

test('the oldest GOP is dropped above the maximum, and the only one too', () => {
  const buffer = play(0, 9, { keep: 60, maxBytes: 6 * 600 });
  expect(buffer.bytes()).toBe(6 * 600);
  const endless = play(0, 9, { every: 100, maxBytes: 4 * 600 });
  expect(endless.newestGop()).toEqual([]);
  expect(endless.bytes()).toBe(0);
  endless.add(unit(10, true));
  expect(endless.newestGop()).toHaveLength(1);
});

test('the shortest distance of two key frames is known from the second one on', () => {
  const distances = [25, 50, 70, 95].map((to) => {
    const buffer = createGopBuffer({ clockRate, maxBytes: 1e6 });
    for (let second = 0; second <= to; second += 5)
      buffer.add(unit(second, [5, 30, 50, 75].includes(second)));
    return [buffer.keyFrameDistance(), buffer.secondsWithoutKeyFrame()];
  });
  expect(distances).toEqual([
    [undefined, 20],
    [20, 5],
    [20, 20],
    [20, 20],
  ]);
});

test('a time without a key frame ends with another clock of the encoder', () => {
  const buffer = createGopBuffer({ clockRate, maxBytes: 1e6 });
  for (const [second, isKeyFrame] of [
    [0, true],
    [9, false],
    [500, true],
    [504, true],
  ] as const)
    buffer.add(unit(second, isKeyFrame));
  expect(buffer.keyFrameDistance()).toBe(4);
});

test('units of intra refresh are given from a refresh that is over', () => {
  const buffer = createGopBuffer({ clockRate, maxBytes: 1e6 });
  const given: unknown[] = [];
  for (let second = 0; second <= 6; second += 1) {
    // A refresh each 3 s takes 2 frames that others refer to.
    const refresh = second % 3 === 0 ? { recoveryFrames: 2 } : {};
    buffer.add({ ...unit(second), isReference: second !== 4, ...refresh });
    given.push(seconds(buffer.newestGop()));
  }
  expect(given).toEqual([[], [], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5], [3, 4, 5, 6]]);
  expect(seconds(buffer.lastSeconds(0))).toEqual([3, 4, 5, 6]);
  expect(buffer.lastSeconds(1)).toBeNull();
});
