import { setImmediate } from 'node:timers/promises';
import { createClock, type Clock } from '../../adapters/embedded/scheduler/clock.ts';
import type { SetTimer } from '../../core/time-limit.ts';

/** Owner of timers. The timers of a killed process never fire. */
export type TimerOwner = { isDead: boolean };

type Timer = { at: number; order: number; fire: () => void; owner: TimerOwner };

/**
 * Clocks of a machine that jump from timer to timer: work between two timers takes no time. Timers follow the monotonic
 * clock. The wall clock can be set, run slow or fast, and continue while the machine sleeps.
 */
export class VirtualTime {
  private monotonic = 0;
  private wall: number;
  /** Speed of the wall clock, in seconds per second. */
  private rate = 1;
  private timers: Timer[] = [];
  private order = 0;

  constructor(startMs: number) {
    this.wall = startMs;
  }

  /** Reading of the wall clock. */
  get nowMs(): number {
    return Math.floor(this.wall);
  }

  readonly now = (): Date => new Date(this.nowMs);
  readonly wallMs = (): number => this.nowMs;
  readonly monotonicMs = (): number => this.monotonic;

  createTimers(owner: TimerOwner): SetTimer {
    return (fire, delayMs) => {
      const timer = {
        at: this.monotonic + Math.max(0, Math.ceil(delayMs)),
        order: (this.order += 1),
        fire,
        owner,
      };
      this.timers.push(timer);
      return () => {
        timer.owner = cancelled;
      };
    };
  }

  schedulerClock(owner: TimerOwner): Clock {
    const { wallMs, monotonicMs } = this;
    return createClock({ wallMs, monotonicMs, setTimer: this.createTimers(owner) });
  }

  /** Resolves after `delayMs` of virtual time; never, if the owner is killed before. */
  wait(owner: TimerOwner, delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.createTimers(owner)(resolve, delayMs);
    });
  }

  /**
   * Fires timers until the wall clock, which is not disturbed, reads `endMs`. `afterEach` runs when the promises of
   * each have settled.
   */
  async runUntil(endMs: number, afterEach: () => void): Promise<void> {
    const endMonotonic = this.monotonic + endMs - this.nowMs;
    for (await settle(), afterEach(); ; await settle(), afterEach()) {
      const next = this.takeNext(endMonotonic);
      if (next === undefined) break;
      this.elapse(Math.max(0, next.at - this.monotonic));
      next.fire();
    }
    this.elapse(endMonotonic - this.monotonic);
  }

  /** Passes time while the machine sleeps: timers and the monotonic clock stop. */
  sleep(seconds: number): void {
    this.wall += seconds * 1000;
  }

  /** Moves the wall clock forward or back. */
  step(seconds: number): void {
    this.wall += seconds * 1000;
  }

  runAt(rate: number): void {
    this.rate = rate;
  }

  private elapse(ms: number): void {
    this.monotonic += ms;
    this.wall += ms * this.rate;
  }

  private takeNext(endMs: number): Timer | undefined {
    let next: Timer | undefined;
    this.timers = this.timers.filter(({ owner }) => !owner.isDead);
    for (const timer of this.timers) {
      if (
        timer.at > endMs ||
        (next && (timer.at > next.at || (timer.at === next.at && timer.order > next.order)))
      )
        continue;
      next = timer;
    }
    if (next) this.timers.splice(this.timers.indexOf(next), 1);
    return next;
  }
}

const cancelled: TimerOwner = { isDead: true };

/** Turns of the event loop that the work of one timer may take: each commit waits for the end of a turn. */
const maxTurns = 4;

async function settle(): Promise<void> {
  for (let turn = 0; turn < maxTurns; turn += 1) await setImmediate();
}
