import type { WatchHealth } from '../../records/watch-state.ts';
import type { WatchConfig } from '../../records/watch.ts';
import type { UnsureSightings } from '../../records/watch-event.ts';
import { rules } from '../../rules.ts';
import { isOver } from '../../time.ts';

/**
 * Counts unsure sightings for a week from the first one, and returns those of a week that is over if they are worth a
 * message: at most one message a week. `unsure` has the conditions that the newest check was not sure of.
 */
export function countUnsure(
  before: WatchHealth['unsure'],
  { conditions }: Pick<WatchConfig, 'conditions'>,
  unsure: readonly string[],
  now: Date,
): { unsure: WatchHealth['unsure']; news: UnsureSightings } {
  const week = before && !isOver(before.since, rules.unsureSeconds, now) ? before : undefined;
  const news = before && !week ? conditions.flatMap(readSightings(before)) : [];
  const total = news.reduce((sum, { sightings }) => sum + sightings, 0);
  // Those of removed conditions would grow with each edit.
  const counted = conditions.flatMap(({ condition_id: id }) => {
    const sightings = (week?.sightings[id] ?? 0) + (unsure.includes(id) ? 1 : 0);
    return sightings > 0 ? [[id, sightings] as const] : [];
  });
  return {
    unsure:
      counted.length > 0
        ? { since: week?.since ?? now.toISOString(), sightings: Object.fromEntries(counted) }
        : undefined,
    news: total >= rules.minUnsureSightings ? news : [],
  };
}

/** Leaves out conditions that a change has removed. */
function readSightings({ sightings: counted }: NonNullable<WatchHealth['unsure']>) {
  return ({ condition_id, condition }: WatchConfig['conditions'][number]): UnsureSightings => {
    const sightings = counted[condition_id] ?? 0;
    return sightings > 0 ? [{ condition_id, condition, sightings }] : [];
  };
}
