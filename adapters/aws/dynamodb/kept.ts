import { rules } from '../../../core/decision/rules.ts';

const daySeconds = 86_400;

/** What a stage may set at most (`lib/stage`), for functions that are not told: they keep what they write no shorter. */
const longestRetentionSeconds = daySeconds;

/** For what takes longer than it should: a job that waits for its last summary, clocks that differ, a late `reconcile`. */
const marginSeconds = daySeconds;

export type Kept = {
  /** TTL of what belongs to a job whose end is not known yet: it outlives the longest job and the time that the job can be read. */
  withItsJob(from: Date): number;
  /** TTL of what is read until then: expired events are still under way to a receiver for `deliveryGraceSeconds`. */
  pastExpiry(expiresAt: Date): number;
  /** Jobs that were created before this have expired, if they still are in the index. */
  oldestListed(now: Date): Date;
};

/** How long items are kept (epoch seconds), from how long an ended job can be read. A job lasts a day at most (design section 10). */
export function keptFor(retentionSeconds = longestRetentionSeconds): Kept {
  const longestSeconds = daySeconds + retentionSeconds + marginSeconds;
  return {
    withItsJob: (from) => epochSeconds(from) + longestSeconds + rules.deliveryGraceSeconds,
    pastExpiry: (expiresAt) => epochSeconds(expiresAt) + rules.deliveryGraceSeconds,
    oldestListed: (now) => new Date(now.getTime() - longestSeconds * 1000),
  };
}

function epochSeconds(at: Date): number {
  return Math.ceil(at.getTime() / 1000);
}
