import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../adapters/embedded/workflow/clock.ts';

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);
const day = 86_400;

describe('a timer of the system clock', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([1, 61, 30 * day])('that is due in %d s runs then, once', (seconds) => {
    const run = vi.fn();
    systemClock.setTimer(inSeconds(seconds), run);
    vi.advanceTimersByTime(seconds * 1000 - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(day * 1000);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('that was due in the past runs soon, but never before setTimer returns', () => {
    const run = vi.fn();
    systemClock.setTimer(inSeconds(-100), run);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('that is cancelled never runs, at whatever leg of its way', () => {
    const run = vi.fn();
    const cancel = systemClock.setTimer(inSeconds(300), run);
    vi.advanceTimersByTime(150_000);
    cancel();
    vi.advanceTimersByTime(day * 1000);
    expect(run).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not delayed by a clock that is set back', () => {
    const run = vi.fn();
    systemClock.setTimer(inSeconds(100), run);
    vi.setSystemTime(inSeconds(-3600));
    vi.advanceTimersByTime(100_000);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('runs within a minute after the machine slept past its hour', () => {
    const run = vi.fn();
    systemClock.setTimer(inSeconds(3600), run);
    vi.setSystemTime(inSeconds(3600));
    vi.advanceTimersByTime(60_000);
    expect(run).toHaveBeenCalledTimes(1);
  });
});
