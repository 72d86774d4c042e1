import { rules } from '../../../core/rules.ts';

const daySeconds = 86_400;

/** Upper bound of `retentionSeconds`, for functions without that setting: their items never expire early. */
const maxRetentionSeconds = daySeconds;

/** Margin for delays: a job that waits for its last summary, clock differences, a late `reconcile`. */
const marginSeconds = daySeconds;

/** Expiry of items, in epoch seconds. */
export type ItemTtls = {
  /** Returns the TTL of items of a job whose end is unknown. They outlive the longest job and its retention. */
  forJob(from: Date): number;
  /**
   * Returns the TTL of items that are readable until `expiresAt`, plus `deliveryTtlSeconds`: expired events may
   * still be in delivery.
   */
  afterExpiry(expiresAt: Date): number;
  /** Returns the oldest creation time of a job that may not have expired. */
  oldestListable(now: Date): Date;
};

/** Computes TTLs from the retention of ended jobs. A job lasts one day at most (design section 10). */
export function itemTtls(retentionSeconds = maxRetentionSeconds): ItemTtls {
  const maxSeconds = daySeconds + retentionSeconds + marginSeconds;
  return {
    forJob: (from) => epochSeconds(from) + maxSeconds + rules.deliveryTtlSeconds,
    afterExpiry: (expiresAt) => epochSeconds(expiresAt) + rules.deliveryTtlSeconds,
    oldestListable: (now) => new Date(now.getTime() - maxSeconds * 1000),
  };
}

function epochSeconds(at: Date): number {
  return Math.ceil(at.getTime() / 1000);
}
