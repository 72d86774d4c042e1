import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../../adapters/embedded/scheduler/clock.ts';
import { start } from '../../../contract/records.ts';

type Timer = { at: Date; run: () => void };

/** Clock that advances only when a test moves it. */
export class FakeClock implements Clock {
  private time: Date;
  private readonly timers = new Set<Timer>();

  constructor(time = start) {
    this.time = time;
  }

  now = () => new Date(this.time);

  setTimer = (at: Date, run: () => void) => {
    const timer = { at, run };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  };

  /** Remaining time of each timer, in seconds. */
  get dueInSeconds(): number[] {
    return [...this.timers]
      .map(({ at }) => (at.getTime() - this.time.getTime()) / 1000)
      .toSorted((a, b) => a - b);
  }

  /** Advances the clock, fires due timers in order, and lets promises settle after each. */
  async advance(seconds: number): Promise<void> {
    const until = new Date(this.time.getTime() + seconds * 1000);
    await settle();
    for (let next = this.earliest(); next !== undefined && next.at <= until; next = this.earliest()) {
      this.timers.delete(next);
      if (next.at > this.time) this.time = next.at;
      next.run();
      await settle();
    }
    this.time = until;
  }

  private earliest(): Timer | undefined {
    return [...this.timers].toSorted((a, b) => a.at.getTime() - b.at.getTime())[0];
  }
}

/** Resolves when the promises of fake tasks have settled. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await setImmediate();
}
