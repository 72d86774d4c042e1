import type { Clock } from '../scheduler/clock.ts';
import type { SetTimer } from '../../../core/time-limit.ts';

/**
 * Returns the clock, which reports for each timer how late it fires. Time for which the machine sleeps does not count.
 */
export function reportLateTimers(
  clock: Clock,
  monotonicMs: () => number,
  report: (lateMs: number) => void,
): Clock {
  return {
    now: clock.now,
    setTimer: (time, run) => {
      const dueMs = monotonicMs() + Math.max(0, time.getTime() - clock.now().getTime());
      return clock.setTimer(time, () => {
        report(Math.max(0, monotonicMs() - dueMs));
        run();
      });
    },
  };
}

/** Time between measurements, and delay from which the event loop counts as blocked, in milliseconds. */
const everyMs = 250;
const blockedMs = 250;

type Deps = { setTimer: SetTimer; monotonicMs: () => number; report: (blockedMs: number) => void };

/**
 * Reports how long the event loop was blocked, whenever a timer fires late by more than `blockedMs`. Time for which the
 * machine sleeps does not count. Returns a function that stops the measurement.
 */
export function watchEventLoop({ setTimer, monotonicMs, report }: Deps): () => void {
  let cancel = measure();
  return () => cancel();

  function measure(): () => void {
    const dueMs = monotonicMs() + everyMs;
    return setTimer(() => {
      const lateMs = monotonicMs() - dueMs;
      if (lateMs >= blockedMs) report(lateMs);
      cancel = measure();
    }, everyMs);
  }
}
