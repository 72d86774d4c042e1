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
const longestLegMilliseconds = 60_000;

export const systemClock: Clock = {
  now: () => new Date(),
  setTimer(at, run) {
    // Counted without the wall clock as well: one that is set back must not delay the timer.
    const deadline = performance.now() + at.getTime() - Date.now();
    let timeout = setTimeout(look, leg());
    return () => clearTimeout(timeout);

    function look() {
      const due = performance.now() >= deadline || Date.now() >= at.getTime();
      if (due) run();
      else timeout = setTimeout(look, leg());
    }

    function leg(): number {
      return Math.min(Math.max(Math.ceil(deadline - performance.now()), 0), longestLegMilliseconds);
    }
  },
};
