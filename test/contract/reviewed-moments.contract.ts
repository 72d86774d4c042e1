import { expect, test } from 'vitest';
import type { MomentReview } from '../../core/records/moment.ts';
import type { viewRuns } from '../support/select-runs.ts';
import { gate, newMoment, remember } from './moment-store.contract.ts';
import { after, start } from './records.ts';
import type { MomentStore } from '../../core/ports/moment-store.ts';

type Stores = ReturnType<typeof viewRuns> & { moments: MomentStore };

/** Contract of the numbers of reviewed moments. */
export function describeReviewedMoments(name: string, makeStores: () => Promise<Stores> | Stores): void {
  test(`${name} counts a missed moment in its hour, once, until a review takes it back`, async () => {
    const stores = await makeStores();
    const missed = newMoment(30, {}, 5);
    const other = newMoment(3700);
    await remember(stores, [[missed, newMoment(30)], [other]]);
    const now = after(4000);
    const review = (holds: boolean): MomentReview => ({
      condition_id: 'person',
      condition: 'A person is there',
      holds,
      missed: holds,
      at: now.toISOString(),
      by: 'control room',
    });
    const count = async () => stores.watches.reviewedHours(gate, start, after(86_400));
    const hour = (at: Date, misses: number) => ({
      hour: at.toISOString(),
      condition_id: 'person',
      correct: 0,
      wrong: 0,
      missed: misses,
    });
    await stores.moments.review('alice', missed.moment_id, review(true), now);
    await stores.moments.review('alice', missed.moment_id, review(true), now);
    await stores.moments.review('alice', other.moment_id, review(true), now);
    expect(await count()).toEqual([hour(start, 1), hour(after(3600), 1)]);
    await stores.moments.review('alice', missed.moment_id, review(false), now);
    expect(await count()).toEqual([hour(start, 0), hour(after(3600), 1)]);
  });
}
