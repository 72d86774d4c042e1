import { setSystemTimer, type SetTimer } from '../../timer.ts';

/** Time as the machine has it. The monotonic clock never goes back, and stands still while the machine sleeps, as its timers do. */
export type ClockSource = { wallMs: () => number; monotonicMs: () => number; setTimer: SetTimer };

/** The engine's time. Tests hand in one that they move by hand. */
export type Clock = {
  now(): Date;
  /** Calls `run` once, at `at` or as soon after as it can, never before it returns. The returned function cancels it. */
  setTimer(at: Date, run: () => void): () => void;
};

/**
 * A longer timer is looked at in between. setTimeout fires at once above 2^31 - 1 ms; and its time stands still
 * while the machine sleeps, so that only a second look at the wall clock finds out that the hour has come.
 */
const maxLegMilliseconds = 60_000;

export function createClock({ wallMs, monotonicMs, setTimer }: ClockSource): Clock {
  return {
    now: () => new Date(wallMs()),
    setTimer(at, run) {
      // Counted without the wall clock as well: one that is set back must not delay the timer.
      const deadlineMs = monotonicMs() + at.getTime() - wallMs();
      let cancel = setTimer(check, legMs());
      return () => cancel();

      function check() {
        const due = monotonicMs() >= deadlineMs || wallMs() >= at.getTime();
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
