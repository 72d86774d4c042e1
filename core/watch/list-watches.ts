import type { WatchRun } from '../records/watch-run.ts';
import type { WatchStatus } from '../records/watch-state.ts';
import type { WatchDeps } from './watch-deps.ts';

type Query = {
  status?: WatchStatus | undefined;
  label?: string | undefined;
  limit: number;
  offset: number;
};

/** Returns a page of a caller's watches. All are read: a caller has few. */
export async function listWatches(
  { status, label, limit, offset }: Query,
  caller: string,
  { watches }: Pick<WatchDeps, 'watches'>,
): Promise<{ watches: WatchRun[]; total: number }> {
  const matching = (await watches.list(caller)).filter(
    (watch) =>
      (status === undefined || watch.status === status) &&
      (label === undefined || watch.config.labels.includes(label)),
  );
  return { watches: matching.slice(offset, offset + limit), total: matching.length };
}
