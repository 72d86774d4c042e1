import { toHour } from '../../../../core/policies/watch/hourly-counts.ts';
import { statsRetentionSeconds } from '../../../../core/ports/watch-store.ts';
import { addSeconds } from '../../../../core/time.ts';
import { itemKeys } from '../table/keys.ts';
import type { Write } from '../table/write.ts';

/** Returns the write that adds to the reviewed numbers of an hour. */
export function countReviews(
  watchId: string,
  time: Date,
  conditionId: string,
  { correct = 0, wrong = 0, missed = 0 }: { correct?: number; wrong?: number; missed?: number },
): Write {
  return {
    kind: 'update',
    key: itemKeys.watchReviews(watchId, toHour(time), conditionId),
    change: 'SET #ttl = :ttl ADD #correct :correct, #wrong :wrong, #missed :missed',
    values: {
      ':correct': correct,
      ':wrong': wrong,
      ':missed': missed,
      ':ttl': Math.ceil(addSeconds(time, statsRetentionSeconds).getTime() / 1000),
    },
  };
}
