import { describe, expect, test, vi } from 'vitest';
import { createTimeLimit, waitAtMost, waitUntilAborted, type SetTimer } from '../../core/time-limit.ts';

const never = new Promise<never>(() => undefined);

describe('createTimeLimit', () => {
  test('the time limit aborts with its caller, for the same reason', () => {
    const caller = new AbortController();
    const limit = createTimeLimit(60, caller.signal);
    expect(limit.aborted).toBe(false);
    caller.abort('stopped');
    expect(limit.reason).toBe('stopped');
  });

  test('the time limit may have any fraction of a second', () => {
    expect(8.079 * 1000).not.toBe(8079);
    expect(createTimeLimit(8.079).aborted).toBe(false);
  });

  test('the time limit aborts after its seconds, with and without a caller', () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort('late'));
    expect(createTimeLimit(2).reason).toBe('late');
    expect(createTimeLimit(2, new AbortController().signal).reason).toBe('late');
    expect(timeout).toHaveBeenCalledWith(2000);
    timeout.mockRestore();
  });
});

describe('waitUntilAborted', () => {
  test('the wait ends with the reason of the signal, before and after it began', async () => {
    const controller = new AbortController();
    const waiting = waitUntilAborted(never, controller.signal);
    controller.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    await expect(waitUntilAborted(never, controller.signal)).rejects.toThrow('over');
  });

  test('the result of the work in time is the result of the wait', async () => {
    expect(await waitUntilAborted(Promise.resolve(7), new AbortController().signal)).toBe(7);
  });
});

describe('waitAtMost', () => {
  function handTimer() {
    const timers: { fire: () => void; delayMs: number; cancelled: boolean }[] = [];
    const setTimer: SetTimer = (fire, delayMs) => {
      const timer = { fire, delayMs, cancelled: false };
      timers.push(timer);
      return () => void (timer.cancelled = true);
    };
    return { timers, setTimer };
  }

  test('the wait ends with the result of expire when the timer fires', async () => {
    const { timers, setTimer } = handTimer();
    const waiting = waitAtMost(500, never, () => 'late', setTimer);
    timers[0]!.fire();
    expect(await waiting).toBe('late');
    expect(timers[0]!.delayMs).toBe(500);
  });

  test('the wait rejects with an error that expire throws', async () => {
    const { timers, setTimer } = handTimer();
    const expire = () => {
      throw new Error('too late');
    };
    const waiting = waitAtMost(500, never, expire, setTimer);
    timers[0]!.fire();
    await expect(waiting).rejects.toThrow('too late');
  });

  test('the timer is cancelled once the work has settled', async () => {
    const { timers, setTimer } = handTimer();
    expect(await waitAtMost(500, Promise.resolve('done'), () => 'late', setTimer)).toBe('done');
    const failing = Promise.reject(new Error('broken'));
    await expect(waitAtMost(500, failing, () => 'late', setTimer)).rejects.toThrow('broken');
    expect(timers.map(({ cancelled }) => cancelled)).toEqual([true, true]);
  });
});
