import type { CreationResult } from '../../../../core/ports/job-store.ts';
import type { WatchCreation } from '../../../../core/ports/watch-store.ts';
import { watchRunSchema } from '../../../../core/records/run.ts';
import { putEvent } from './event-items.ts';
import { readRefusal, rememberRequest } from './job-creation.ts';
import { requireValidKey } from '../callers/key-store.ts';
import { itemKeys } from '../table/keys.ts';
import { putSecrets, type RunDeps } from './run-commit.ts';
import { toItems } from './run-item.ts';
import { putSource } from './source-item.ts';
import type { Write } from '../table/write.ts';

const absent = 'attribute_not_exists(#pk)';

/**
 * Creates a watch in one transaction: configuration, run, source, secrets, events, a place among the caller's watches.
 */
export async function createWatch(
  { table, ...rules }: RunDeps,
  creation: WatchCreation,
  now: Date,
): Promise<CreationResult> {
  const { source, secrets, events, maxWatches, keyHash, idempotency } = creation;
  const watch = watchRunSchema.parse(creation);
  const { caller, run_id: watchId } = watch;
  const items = toItems(watch, events, rules);
  const result = await table.transact([
    { kind: 'put', item: items.meta, condition: absent },
    takePlace(caller, watchId, maxWatches),
    ...(idempotency ? [rememberRequest({ caller, id: watchId }, idempotency, now, rules.ttls)] : []),
    { kind: 'put', item: items.run },
    putSource(source),
    putSecrets(secrets),
    ...events.flatMap((event) => putEvent(event, watch.config.retention_days, rules.ttls)),
    ...(keyHash === undefined ? [] : [requireValidKey(keyHash, caller, now)]),
  ]);
  if (result.kind === 'written') return { kind: 'created' };
  const [isKnownWatch, , isKnownKey = false] = result.refused;
  if (isKnownWatch) return { kind: 'created' };
  return readRefusal(table, { caller, keyHash, idempotency }, isKnownKey, result.refused);
}

/** The set is absent at first, and after its last watch was deleted. */
function takePlace(caller: string, watchId: string, maxWatches: number): Write {
  return {
    kind: 'update',
    key: itemKeys.watchesOfCaller(caller),
    change: 'ADD #watches :watch',
    condition: 'contains(#watches, :id) OR attribute_not_exists(#watches) OR size(#watches) < :limit',
    values: { ':watch': new Set([watchId]), ':id': watchId, ':limit': maxWatches },
  };
}
