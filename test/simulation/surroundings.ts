import type { Random } from './random.ts';

export type Mode = 'ok' | (typeof troubles)[number];
const troubles = ['failed', 'refused', 'ended', 'unavailable', 'stale', 'frozen', 'black'] as const;

/** Mean durations, in milliseconds: while the stream works, of its troubles, while a condition holds or not, and of failures of the model. */
type Means = {
  works: number;
  troubles: readonly [number, number, number];
  holds: number;
  holdsNot: number;
  modelFails: number;
};

/** Random troubles of a stream and of a model, and the truth about conditions. */
export class Surroundings {
  readonly leftOutShare: number;
  protected readonly random: Random;
  protected readonly segmentSeconds: number;
  protected mode: { name: Mode; begin: number; until: number };
  private readonly means: Means;
  private model = { fails: false, until: 0 };
  private readonly truths = new Map<string, { holds: boolean; until: number }>();

  constructor(random: Random, now: number, means: Means) {
    this.random = random;
    this.means = means;
    this.segmentSeconds = random.pick([0, 2, 6, 12]);
    this.leftOutShare = random.pick([0, 0, 0.01, 0.3]);
    this.mode = { name: 'ok', begin: now, until: now + 3_600_000 };
  }

  holds(condition: string, now: number): boolean {
    let truth = this.truths.get(condition) ?? { holds: false, until: now + this.duration(7_200_000) };
    while (truth.until <= now) {
      const mean = truth.holds ? this.means.holdsNot : this.means.holds;
      truth = { holds: !truth.holds, until: truth.until + this.duration(mean) };
    }
    this.truths.set(condition, truth);
    return truth.holds;
  }

  modelFails(now: number): boolean {
    if (now >= this.model.until) {
      const fails = !this.model.fails && this.random.chance(0.3);
      this.model = { fails, until: now + this.duration(fails ? this.means.modelFails : 43_200_000) };
    }
    return this.model.fails || this.random.chance(0.01);
  }

  protected modeAt(now: number): Mode {
    if (now < this.mode.until) return this.mode.name;
    const name = this.mode.name === 'ok' ? this.random.pick(troubles) : 'ok';
    const mean = name === 'ok' ? this.means.works : this.random.pick(this.means.troubles);
    this.mode = { name, begin: now, until: now + this.duration(mean) };
    return name;
  }

  private duration(meanMs: number): number {
    return Math.ceil(-Math.log(1 - this.random.next()) * meanMs);
  }
}
