import { rules } from '../../../../core/rules.ts';

/** Margin for delays: a job that waits for its last summary, clock differences, a late `reconcile`. */
const marginSeconds = 86_400;

/** Expiry of items, in epoch seconds. */
export type ItemTtls = {
  /**
   * Returns the TTL of events and deliveries of a job whose end is unknown. They outlive the longest job and its
   * retention.
   */
  forJob(from: Date): number;
  /**
   * Returns the TTL of items that are readable until `expiresAt`, plus `deliveryTtlSeconds`: expired events may
   * still be in delivery.
   */
  afterExpiry(expiresAt: Date): number;
  /** Returns the oldest creation time of a job that may not have expired. */
  oldestListable(now: Date): Date;
};

/**
 * Computes TTLs from the retention of ended jobs. Functions without that setting use its upper bound: their items never
 * expire early.
 */
export function itemTtls(retentionSeconds: number = rules.maxRetentionSeconds): ItemTtls {
  const maxSeconds = rules.maxJobDurationSeconds + retentionSeconds + marginSeconds;
  return {
    forJob: (from) => epochSeconds(from) + maxSeconds + rules.deliveryTtlSeconds,
    afterExpiry: (expiresAt) => epochSeconds(expiresAt) + rules.deliveryTtlSeconds,
    oldestListable: (now) => new Date(now.getTime() - maxSeconds * 1000),
  };
}

function epochSeconds(time: Date): number {
  return Math.ceil(time.getTime() / 1000);
}
