import type { RunStore } from '../ports/run-store.ts';
import { asWatch } from '../records/run.ts';
import { watchSchema } from '../records/watch.ts';
import type { FormerDestination } from '../records/watch.ts';
import type { WatchRun } from '../records/watch-run.ts';
import type { WatchSecrets } from '../records/watch-secrets.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';

/** Erases the addresses of former destinations of a watch. Throws `TransientError`. */
export async function eraseFormer(
  watchId: string,
  isErased: (former: FormerDestination) => boolean,
  runs: Pick<RunStore, 'getIncludingEnded' | 'secrets' | 'commit'>,
): Promise<void> {
  await retryConflicts('The watch was changed too often concurrently', async () => {
    const stored = asWatch(await runs.getIncludingEnded(watchId));
    // After the watch, whose version then belongs to these secrets or to older ones.
    const secrets = await runs.secrets(watchId);
    const change = stored && secrets && planErasure(stored, secrets, isErased);
    if (change === undefined) return committed(undefined);
    return (await runs.commit(change)) === 'outdated' ? conflict : committed(undefined);
  });
}

function planErasure(
  run: WatchRun,
  { former: addresses = [], ...secrets }: WatchSecrets,
  isErased: (former: FormerDestination) => boolean,
) {
  const { former_destinations: former, ...watch } = watchSchema.parse(run);
  const left = former.filter((each) => !isErased(each));
  if (left.length === former.length) return undefined;
  const ids = new Set(left.map(({ former_id }) => former_id));
  const kept = left.length > 0;
  return {
    runId: watch.run_id,
    expectedVersion: run.version,
    set: {},
    meta: { ...watch, former_destinations: left },
    secrets: { ...secrets, ...(kept && { former: addresses.filter(({ former_id }) => ids.has(former_id)) }) },
    events: [],
  };
}
