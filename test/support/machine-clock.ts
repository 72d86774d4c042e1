import { setImmediate } from 'node:timers/promises';
import type { ClockSource } from '../../adapters/embedded/workflow/clock.ts';

type Timer = { atMs: number; fire: () => void };

/**
 * The clocks of a machine, moved by hand: a monotonic one with its timers, and a wall clock that can be set, run slow or fast, and go on
 * while the machine sleeps.
 */
export function createMachineClock(start: Date) {
  let monotonicMs = 0;
  let wallMs = start.getTime();
  /** Seconds of the wall clock per second. */
  let rate = 1;
  /** Real time: also while the machine sleeps, and whatever the wall clock reads. */
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
    /** The machine is awake for so long: its timers fire, each in its time. */
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
    /** The machine sleeps: its timers and the monotonic clock stand still. */
    sleep(seconds: number): void {
      wallMs += seconds * 1000;
      realMs += seconds * 1000;
    },
    /** The wall clock is set forward or back. */
    step(seconds: number): void {
      wallMs += seconds * 1000;
    },
    runAt(newRate: number): void {
      rate = newRate;
    },
  };
}

export type MachineClock = ReturnType<typeof createMachineClock>;

/** Lets everything that hangs on promises alone happen. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
}
