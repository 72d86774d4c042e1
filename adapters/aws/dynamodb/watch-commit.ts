import type { WatchChange, WatchCreation, WatchCreationResult } from '../../../core/ports/watch-store.ts';
import { statsRetentionSeconds } from '../../../core/ports/watch-store.ts';
import { hasDestinations } from '../../../core/event/receivers.ts';
import { TransientError } from '../../../core/errors.ts';
import type { WatchSecrets } from '../../../core/records/watch-secrets.ts';
import { watchSchema, type Watch } from '../../../core/records/watch.ts';
import { watchProgressSchema } from '../../../core/records/watch-run.ts';
import type { WatchEvent } from '../../../core/records/watch-event.ts';
import { addSeconds } from '../../../core/time.ts';
import { applyChange, eventExpiry, newestDelivered, sumByHour } from '../../../core/watch/stored-watch.ts';
import { toAlertWrite } from './alert-item.ts';
import type { ItemRules } from './item-rules.ts';
import { findIdempotencyRecord, rememberRequest } from './job-creation.ts';
import { requireValidKey } from './key-store.ts';
import { itemKeys } from './keys.ts';
import { toEpochMinute } from './repair-due.ts';
import type { Table } from './table.ts';
import type { Write } from './write.ts';
import { readRecord } from './record.ts';
import { putSource } from './source-item.ts';
import { readRunItem, toRunItem, type NewestDelivered, type StoredRun } from './watch-item.ts';

type Deps = { table: Table } & ItemRules;

const absent = 'attribute_not_exists(#pk)';

/** Creates a watch in one transaction: configuration, run, source, secrets, events, a place among the caller's watches. */
export async function createWatch(
  { table, ...rules }: Deps,
  creation: WatchCreation,
  now: Date,
): Promise<WatchCreationResult> {
  const { source, secrets, events, maxWatches, keyHash, idempotency } = creation;
  const watch = watchSchema.parse(creation);
  const run = watchProgressSchema.parse(creation);
  const { caller, run_id: watchId } = watch;
  const newest = findNewest(events, { sequence: 0, minute: 0 });
  const result = await table.transact([
    { kind: 'put', item: toWatchItem(watch), condition: absent },
    takePlace(caller, watchId, maxWatches),
    ...(idempotency ? [rememberRequest({ caller, id: watchId }, idempotency, now, rules.ttls)] : []),
    { kind: 'put', item: toRunItem({ ...readColumns(watch), run, newest }, rules) },
    putSource(source),
    putSecrets(secrets),
    ...events.map((event) => putEvent(event, watch.config.retention_days)),
    ...(keyHash === undefined ? [] : [requireValidKey(keyHash, caller, now)]),
  ]);
  if (result.kind === 'written') return { kind: 'created' };
  const [isKnownWatch, , isKnownKey] = result.refused;
  if (isKnownWatch) return { kind: 'created' };
  if (!isKnownKey || !idempotency)
    return { kind: keyHash !== undefined && result.refused.at(-1) ? 'key_invalid' : 'full' };
  const known = await findIdempotencyRecord(table, caller, idempotency.key);
  if (known === undefined) throw new TransientError('The idempotency record expired while it was read');
  if (known.request_hash !== idempotency.requestHash) return { kind: 'key_reused' };
  return { kind: 'replayed', watchId: known.job_id };
}

/** Commits a change in one transaction. The run is read first, because its repair index entry depends on all of it. */
export async function commitWatchChange(
  { table, ...rules }: Deps,
  change: WatchChange,
): Promise<'committed' | 'outdated'> {
  const { runId: watchId, expectedVersion, meta: watch } = change;
  const item = await table.get(itemKeys.watchRun(watchId));
  if (item === undefined) return 'outdated';
  const before = readRunItem(item);
  if (before.run.version !== expectedVersion) return 'outdated';
  const after: StoredRun = {
    ...before,
    ...(watch && readColumns(watch)),
    run: applyChange(before.run, change),
    newest: findNewest(change.events, before.newest),
  };
  const isDeletion = after.run.deleted_at !== null && before.run.deleted_at === null;
  const result = await table.transact([
    setRun(after, expectedVersion, rules),
    ...(watch ? [{ kind: 'put', item: toWatchItem(watch) } satisfies Write] : []),
    ...(change.source ? [putSource(change.source)] : []),
    ...(change.secrets ? [putSecrets(change.secrets)] : []),
    ...change.events.map((event) => putEvent(event, after.retentionDays)),
    ...(change.alerts ?? []).map(toAlertWrite),
    ...sumByHour(change.hours).flatMap(({ hour, counts }) => addToHour(watchId, hour, counts)),
    ...(isDeletion ? await deletion(table, watchId) : []),
  ]);
  return result.kind === 'written' ? 'committed' : 'outdated';
}

function toWatchItem(watch: Watch) {
  return { ...itemKeys.watch(watch.run_id), caller_name: watch.caller, record: JSON.stringify(watch) };
}

function readColumns(watch: Watch): Pick<StoredRun, 'watchId' | 'hasDestinations' | 'retentionDays'> {
  return {
    watchId: watch.run_id,
    hasDestinations: hasDestinations(watch),
    retentionDays: watch.config.retention_days,
  };
}

function findNewest(events: readonly WatchEvent[], before: NewestDelivered): NewestDelivered {
  const sequence = newestDelivered(events, before.sequence);
  const event = events.find((other) => other.sequence === sequence);
  return event ? { sequence, minute: toEpochMinute(new Date(event.timestamp)) } : before;
}

/** Sets all columns except `published`, which changes separately. */
function setRun(after: StoredRun, version: number, rules: ItemRules): Write {
  const { pk, sk, published: _, ...columns } = toRunItem(after, rules);
  const names = Object.keys(columns);
  const [set, gone] = [names.filter(isSet), names.filter((name) => !isSet(name))];
  return {
    kind: 'update',
    key: { pk, sk },
    change: `SET ${set.map((name) => `#${name} = :${name}`).join(', ')}${
      gone.length === 0 ? '' : ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}`
    }`,
    condition: '#version = :seen',
    values: { ...Object.fromEntries(set.map((name) => [`:${name}`, columns[name]])), ':seen': version },
  };

  function isSet(name: string): boolean {
    return columns[name] !== undefined;
  }
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

function putSecrets(secrets: WatchSecrets): Write {
  return {
    kind: 'put',
    item: { ...itemKeys.watchSecrets(secrets.watch_id), record: JSON.stringify(secrets) },
  };
}

function putEvent(event: WatchEvent, retentionDays: number): Write {
  const expiresAt = eventExpiry(event, retentionDays);
  return {
    kind: 'put',
    item: {
      ...itemKeys.watchEvent(event.watch_id, event.sequence),
      expires_at_ms: expiresAt.getTime(),
      ttl: Math.ceil(expiresAt.getTime() / 1000),
      record: JSON.stringify(event),
    },
  };
}

function addToHour(watchId: string, hour: string, counts: [name: string, value: number][]): Write[] {
  if (counts.length === 0) return [];
  const ttl = Math.ceil(addSeconds(new Date(hour), statsRetentionSeconds).getTime() / 1000);
  const added = counts.map(([name]) => `#${name} :${name}`).join(', ');
  const values = Object.fromEntries(counts.map(([name, value]) => [`:${name}`, value]));
  return [
    {
      kind: 'update',
      key: itemKeys.watchHour(watchId, hour),
      change: `SET #ttl = :ttl ADD ${added}`,
      values: { ...values, ':ttl': ttl },
    },
  ];
}

/** Frees the place among the caller's watches and removes the source, which contains credentials. */
async function deletion(table: Table, watchId: string): Promise<Write[]> {
  const meta = await table.get(itemKeys.watch(watchId));
  if (meta === undefined) return [];
  const watch = readRecord(watchSchema, meta);
  return [
    {
      kind: 'update',
      key: itemKeys.watchesOfCaller(watch.caller),
      change: 'DELETE #watches :watch',
      values: { ':watch': new Set([watchId]) },
    },
    { kind: 'delete', key: itemKeys.source(watch.source_id) },
  ];
}
