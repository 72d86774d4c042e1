import type { Condition } from './plain-condition.ts';
import type { PlainTick } from './plain.ts';

/** Seven unsure sightings of a week are one message, at its end. A week begins with the first one. */
export class UnsureWeek {
  private from = Infinity;
  private readonly sightings: string[] = [];

  /** `conditions`: those after the tick, by id. */
  add(tick: PlainTick, conditions: ReadonlyMap<string, Condition>, now: number): string[] {
    const isOver = now - this.from >= 7 * 86_400_000;
    const told = isOver && this.sightings.filter((id) => conditions.has(id)).length >= 7;
    if (isOver) {
      this.from = Infinity;
      this.sightings.length = 0;
    }
    for (const [id, { unjudged }] of conditions) {
      if (tick.kind !== 'judged' || tick.answers[id] !== 'unsure' || unjudged >= 3) continue;
      this.from = Math.min(this.from, now);
      this.sightings.push(id);
    }
    return told ? ['changed unsure_sightings'] : [];
  }
}
