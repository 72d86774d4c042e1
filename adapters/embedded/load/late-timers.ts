import type { Clock } from '../scheduler/clock.ts';

/** Returns the clock, which reports for each timer how late it fires. Time for which the machine sleeps does not count. */
export function reportLateTimers(
  clock: Clock,
  monotonicMs: () => number,
  report: (lateMs: number) => void,
): Clock {
  return {
    now: clock.now,
    setTimer: (at, run) => {
      const dueMs = monotonicMs() + Math.max(0, at.getTime() - clock.now().getTime());
      return clock.setTimer(at, () => {
        report(Math.max(0, monotonicMs() - dueMs));
        run();
      });
    },
  };
}
