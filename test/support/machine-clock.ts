import { setImmediate } from 'node:timers/promises';
import type { ClockSource } from '../../adapters/embedded/scheduler/clock.ts';

type Timer = { atMs: number; fire: () => void };

/**
 * Creates the clocks of a machine under manual control: a monotonic clock with timers, and a wall clock that can be set, run
 * slow or fast, and continue while the machine sleeps.
 */
export function createMachineClock(start: Date) {
  let monotonicMs = 0;
  let wallMs = start.getTime();
  /** Speed of the wall clock, in seconds per second. */
  let rate = 1;
  /** Elapsed real time, including sleep and independent of the wall clock. */
  let realMs = 0;
  const timers = new Set<Timer>();

  const source: ClockSource = {
    wallMs: () => Math.floor(wallMs),
    monotonicMs: () => monotonicMs,
    setTimer: (fire, delayMs) => {
      const timer = { atMs: monotonicMs + Math.max(delayMs, 1), fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };

  function elapse(ms: number): void {
    monotonicMs += ms;
    realMs += ms;
    wallMs += ms * rate;
  }

  return {
    ...source,
    now: () => new Date(source.wallMs()),
    realSeconds: () => realMs / 1000,
    /** Passes time while the machine is awake; timers fire at their time. */
    async pass(seconds: number): Promise<void> {
      const endMs = monotonicMs + seconds * 1000;
      for (await settle(); ; await settle()) {
        const next = [...timers].filter(({ atMs }) => atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers.delete(next);
        elapse(Math.max(0, next.atMs - monotonicMs));
        next.fire();
      }
      elapse(endMs - monotonicMs);
    },
    /** Passes time while the machine sleeps: timers and the monotonic clock stop. */
    sleep(seconds: number): void {
      wallMs += seconds * 1000;
      realMs += seconds * 1000;
    },
    /** Moves the wall clock forward or back. */
    step(seconds: number): void {
      wallMs += seconds * 1000;
    },
    runAt(newRate: number): void {
      rate = newRate;
    },
  };
}

export type MachineClock = ReturnType<typeof createMachineClock>;

/** Waits until pending promise callbacks have run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
}
