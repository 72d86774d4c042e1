import { setSystemTimer, type SetTimer } from '../../../core/time-limit.ts';

/** Clock of the machine. Monotonic time never goes back, and stops while the machine sleeps, like its timers. */
export type ClockSource = { wallMs: () => number; monotonicMs: () => number; setTimer: SetTimer };

/** Clock of the scheduler. Tests hand in one that they advance. */
export type Clock = {
  now(): Date;
  /**
   * Calls `run` once, at `at` or as soon after as possible, never synchronously. Returns a function that cancels it.
   */
  setTimer(time: Date, run: () => void): () => void;
};

/**
 * Maximum timer delay: longer waits take several timers. `setTimeout` fires immediately above 2^31 - 1 ms, and its time
 * stops while the machine sleeps, so the wall clock is checked in between.
 */
const maxLegMilliseconds = 60_000;

export function createClock({ wallMs, monotonicMs, setTimer }: ClockSource): Clock {
  return {
    now: () => new Date(wallMs()),
    setTimer(time, run) {
      // Monotonic time limits the wait as well: a wall clock that is set back must not delay the timer.
      const deadlineMs = monotonicMs() + time.getTime() - wallMs();
      let cancel = setTimer(check, legMs());
      return () => cancel();

      function check() {
        const due = monotonicMs() >= deadlineMs || wallMs() >= time.getTime();
        if (due) run();
        else cancel = setTimer(check, legMs());
      }

      function legMs(): number {
        return Math.min(Math.max(Math.ceil(deadlineMs - monotonicMs()), 0), maxLegMilliseconds);
      }
    },
  };
}

export const systemClock = createClock({
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: setSystemTimer,
});
