import type { MomentPage, MomentPosition, MomentQuery, RememberedWatch } from '../ports/moment-store.ts';
import type { Moment } from '../records/moment.ts';

/** Order of a list: newest first. */
export function newestFirst(one: MomentPosition, other: MomentPosition): number {
  if (place(one) === place(other)) return 0;
  return place(one) < place(other) ? 1 : -1;
}

function place({ at, moment_id: id }: MomentPosition): string {
  return `${at} ${id}`;
}

export function passesFilters(
  { verdicts, reviews }: Moment,
  { conditionId, triggered, reviewed = false }: MomentQuery,
): boolean {
  if (reviewed && reviews === undefined) return false;
  if (conditionId === undefined && triggered === undefined) return true;
  return verdicts.some(
    (verdict) =>
      (conditionId === undefined || verdict.condition_id === conditionId) &&
      (triggered === undefined || verdict.triggered === triggered),
  );
}

/** Maximum moments that one page looks through: a filter that nothing passes must not read a memory of months. */
const maxRead = 2_000;

/** Moments of one watch, newest first. `after` is the position after which the next ones begin, `null` at the end. */
export type MomentRun = { moments: Moment[]; after: MomentPosition | null };

/** Reads about `limit` moments of one watch after a position. */
type ReadWatch = (
  watch: RememberedWatch,
  after: MomentPosition | undefined,
  limit: number,
) => Promise<MomentRun>;

export async function mergeMoments(query: MomentQuery, read: ReadWatch): Promise<MomentPage> {
  const { watches, limit } = query;
  const chunk = Math.max(10, Math.ceil(limit / Math.max(1, watches.length)) + 1);
  const queues = watches.map((watch) => ({
    watch,
    after: query.after,
    ahead: new Array<Moment>(),
    done: false,
  }));
  const moments: Moment[] = [];
  let last: MomentPosition | null = null;
  for (let looked = 0; ; looked += 1) {
    await Promise.all(
      queues.map(async (queue) => {
        while (!queue.done && queue.ahead.length === 0) {
          const { moments: ahead, after } = await read(queue.watch, queue.after, chunk);
          Object.assign(queue, { ahead, after: after ?? undefined, done: after === null });
        }
      }),
    );
    const [first] = queues.flatMap((queue) => (queue.ahead[0] ? [queue] : [])).toSorted(byHead);
    const moment = first?.ahead[0];
    if (!first || !moment) return { moments, next: null };
    if (moments.length === limit || looked === maxRead) return { moments, next: last };
    first.ahead.shift();
    last = { at: moment.at, moment_id: moment.moment_id };
    if (passesFilters(moment, query)) moments.push(moment);
  }
}

function byHead({ ahead: [one] }: { ahead: Moment[] }, { ahead: [other] }: { ahead: Moment[] }): number {
  return one && other ? newestFirst(one, other) : 0;
}
