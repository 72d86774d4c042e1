import type { KeyCrypto } from '../access/api-key.ts';
import type { CoreDeps } from '../dependencies.ts';
import type { Destinations } from '../ports/delivery.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { TokenPrice } from '../policies/watch/budget.ts';
import { WatchNotFoundError } from '../errors.ts';
import type { WatchChange } from '../ports/runs.ts';
import { asWatch, type WatchRun } from '../records/run.ts';
import { toWatchEvents, type NewWatchEvent } from '../records/watch-event.ts';
import { mapWatchTimes } from '../policies/watch/map-times.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import { onClock } from '../sight/clock-change.ts';
import { applyRunChange } from '../event/stored-run.ts';
import type { Log } from '../ports/observability.ts';

export type WatchDeps = Pick<
  CoreDeps,
  | 'runs'
  | 'jobs'
  | 'watches'
  | 'moments'
  | 'deliveries'
  | 'queue'
  | 'executions'
  | 'media'
  | 'streams'
  | 'turns'
  | 'urls'
  | 'webhookUrls'
  | 'signer'
  | 'limits'
  | 'log'
  | 'now'
  | 'newId'
  | 'streamPhase'
  | 'pace'
> &
  Pick<KeyCrypto, 'sha256'> & {
    vision: Pick<VisionModel, 'capabilities' | 'model'>;
    destinations: Pick<Destinations, 'reasonToRefuse' | 'end'>;
    /** `null` if the price of the model is unknown. */
    modelPrice: TokenPrice | null;
  };

/** Part of a commit that a change decides. */
export type PlannedChange = Omit<WatchChange, 'runId' | 'expectedVersion' | 'events' | 'set'> & {
  set: Omit<WatchChange['set'], 'sequence'>;
  events: readonly NewWatchEvent[];
};

/**
 * Changes an own watch: reads it on its clock, plans the change and commits both or nothing, again after a conflict
 * with a tick. An undefined plan changes nothing. Throws `WatchNotFoundError`, and what `plan` throws.
 */
export async function changeStoredWatch(
  watchId: string,
  caller: string,
  deps: Pick<WatchDeps, 'runs' | 'now'>,
  plan: (stored: WatchRun) => Promise<PlannedChange | undefined> | PlannedChange | undefined,
): Promise<WatchRun> {
  return retryConflicts('The watch was changed too often concurrently', async () => {
    const stored = onClock(await requireOwnWatch(watchId, caller, deps), deps.now(), mapWatchTimes);
    const planned = await plan(stored);
    if (planned === undefined) return committed(stored);
    const events = toWatchEvents(planned.events, planned.meta ?? stored, stored.sequence, deps.now());
    // All times move with the clock, or none.
    const { next, sight, state } = stored;
    const set = { next, sight, state, ...planned.set, sequence: stored.sequence + events.length };
    const change = { ...planned, runId: watchId, expectedVersion: stored.version, set, events };
    if ((await deps.runs.commit(change)) === 'outdated') return conflict;
    return committed(applyRunChange(stored, change));
  });
}

/** Throws `WatchNotFoundError` for watches that are gone, and for those of other callers, as if absent. */
export async function requireOwnWatch(
  watchId: string,
  caller: string,
  { runs, now }: Pick<WatchDeps, 'runs' | 'now'>,
): Promise<WatchRun> {
  const stored = asWatch(await runs.get(watchId, now()));
  if (stored?.caller !== caller) throw new WatchNotFoundError();
  return stored;
}

/**
 * Removes pictures of a watch that was deleted or changed. Media that cannot be removed now expire with their
 * retention.
 */
export async function removeQuietly(
  { run_id: watchId }: WatchRun,
  remove: () => Promise<unknown>,
  { log }: { log: Log },
): Promise<void> {
  try {
    await remove();
  } catch (error) {
    log.warning('Pictures of a watch not removed yet', { watch_id: watchId, error: String(error) });
  }
}

/** Starts the current generation of a watch. Logs a failure and never throws: `reconcile` starts it then. */
export async function startQuietly(
  watch: WatchRun,
  { executions, log }: Pick<WatchDeps, 'executions' | 'log'>,
): Promise<void> {
  const { generation } = watch;
  try {
    await executions.start({ run_id: watch.run_id, generation });
  } catch (error) {
    log.warning('Execution of a watch not started yet; reconcile starts it', {
      watch_id: watch.run_id,
      generation,
      error: String(error),
    });
  }
}
