import { TransientError } from '../errors.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { RunChange, RunStore } from '../ports/run-store.ts';

type Deps = { runs: Pick<RunStore, 'commit'>; meter: Pick<Meter, 'count'> };

/**
 * Commits a tick, without its moments if it cannot be stored with them: events and alerts come before a memory. Returns
 * what is stored; undefined after a conflict. Throws `TransientError`.
 */
export async function commitTick<Change extends RunChange>(
  change: Change,
  { runs, meter }: Deps,
  log: Log,
): Promise<Change | undefined> {
  const count = change.moments?.length ?? 0;
  try {
    return (await runs.commit(change)) === 'committed' ? change : undefined;
  } catch (error) {
    if (!(error instanceof TransientError) || count === 0) throw error;
    const rest = { ...change, moments: [] };
    if ((await runs.commit(rest)) !== 'committed') return undefined;
    log.warning('Moments dropped, since they could not be stored', { count, error: String(error) });
    await meter.count({ kind: 'moments_dropped', count });
    return rest;
  }
}
