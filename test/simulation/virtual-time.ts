import { setImmediate } from 'node:timers/promises';
import { createClock, type Clock } from '../../adapters/embedded/scheduler/clock.ts';
import type { SetTimer } from '../../core/time-limit.ts';

/** Owner of timers. The timers of a killed process never fire. */
export type TimerOwner = { isDead: boolean };

type Timer = { at: number; order: number; fire: () => void; owner: TimerOwner };

/** Clock that jumps from timer to timer. Work between two timers takes no time. */
export class VirtualTime {
  nowMs: number;
  private timers: Timer[] = [];
  private order = 0;

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  readonly now = (): Date => new Date(this.nowMs);

  createTimers(owner: TimerOwner): SetTimer {
    return (fire, delayMs) => {
      const timer = {
        at: this.nowMs + Math.max(0, Math.ceil(delayMs)),
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

  engineClock(owner: TimerOwner): Clock {
    const nowMs = () => this.nowMs;
    return createClock({ wallMs: nowMs, monotonicMs: nowMs, setTimer: this.createTimers(owner) });
  }

  /** Resolves after `delayMs` of virtual time; never, if the owner is killed before. */
  wait(owner: TimerOwner, delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.createTimers(owner)(resolve, delayMs);
    });
  }

  /** Fires timers until `endMs`. `afterEach` runs when the promises of each have settled. */
  async runUntil(endMs: number, afterEach: () => void): Promise<void> {
    for (await settle(), afterEach(); ; await settle(), afterEach()) {
      const next = this.takeNext(endMs);
      if (next === undefined) break;
      this.nowMs = Math.max(this.nowMs, next.at);
      next.fire();
    }
    this.nowMs = endMs;
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
