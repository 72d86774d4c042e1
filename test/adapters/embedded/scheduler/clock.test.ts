import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../adapters/embedded/scheduler/clock.ts';

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);
const day = 86_400;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([1, 61, 30 * day])('a timer of %d s fires once, at its time', (seconds) => {
  const run = vi.fn();
  systemClock.setTimer(inSeconds(seconds), run);
  vi.advanceTimersByTime(seconds * 1000 - 1);
  expect(run).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(day * 1000);
  expect(run).toHaveBeenCalledTimes(1);
});

test('a timer whose time has passed fires soon, but not before setTimer returns', () => {
  const run = vi.fn();
  systemClock.setTimer(inSeconds(-100), run);
  expect(run).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(run).toHaveBeenCalledTimes(1);
});

test('a cancelled timer never fires, regardless of how often it was extended', () => {
  const run = vi.fn();
  const cancel = systemClock.setTimer(inSeconds(300), run);
  vi.advanceTimersByTime(150_000);
  cancel();
  vi.advanceTimersByTime(day * 1000);
  expect(run).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('a clock that is set back does not delay a timer', () => {
  const run = vi.fn();
  systemClock.setTimer(inSeconds(100), run);
  vi.setSystemTime(inSeconds(-3600));
  vi.advanceTimersByTime(100_000);
  expect(run).toHaveBeenCalledTimes(1);
});

test('a timer fires within a minute after the machine slept past its time', () => {
  const run = vi.fn();
  systemClock.setTimer(inSeconds(3600), run);
  vi.setSystemTime(inSeconds(3600));
  vi.advanceTimersByTime(60_000);
  expect(run).toHaveBeenCalledTimes(1);
});
