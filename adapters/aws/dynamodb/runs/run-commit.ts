import { z } from 'zod';
import { type RunChange, type Totals, statsRetentionSeconds } from '../../../../core/ports/runs.ts';
import { hasEnded } from '../../../../core/event/stored-run.ts';
import type { WatchSecrets } from '../../../../core/records/watch.ts';
import { seenHourSchema, type SeenHour } from '../../../../core/records/sight.ts';
import { extendHour } from '../../../../core/sight/spans.ts';
import { addSeconds } from '../../../../core/time.ts';
import { sumByHour } from '../../../../core/watch/stored-watch.ts';
import { toAlertWrite } from './alert-item.ts';
import { putEvent } from './event-items.ts';
import type { ItemTtls } from '../table/item-ttls.ts';
import { itemKeys, shardFor } from '../table/keys.ts';
import { parseRecord, readItem } from '../table/record.ts';
import {
  applyToProgress,
  readProgressItem,
  toMetaItem,
  toProgressItem,
  type ItemRules,
  putSource,
  type StoredProgress,
} from './run-item.ts';
import { putMoments } from './moment-items.ts';
import type { Table, Item, ItemKey, Write } from '../table/table.ts';

export type RunDeps = { table: Table } & ItemRules;

/**
 * Commits a change of a run in one transaction. The run is read first, because its repair index entry depends on all of
 * it. The conditions ensure that nothing has changed since. Returns 'outdated' otherwise.
 */
export async function commitChange(
  { table, ...rules }: RunDeps,
  change: RunChange,
): Promise<'committed' | 'outdated'> {
  const { runId, meta, source, secrets, events, alerts = [], releasesSlotOf, totalsDelta } = change;
  const item = await table.get(itemKeys.run(runId));
  if (item === undefined) return 'outdated';
  const before = readProgressItem(item);
  if (before.progress.version !== change.expectedVersion) return 'outdated';
  const after = applyToProgress(before, change);
  const isEnd = hasEnded(after.progress) && !hasEnded(before.progress);
  // Only commits of this version change them.
  const hours = await Promise.all(
    sumByHour(change.hours).map(async (added) => addToHour(table, runId, added)),
  );
  const result = await table.transact([
    setRun(after, change.expectedVersion, rules),
    ...(meta ? [{ kind: 'put', item: toMetaItem(meta, runId, after.metaVersion) } satisfies Write] : []),
    ...(source ? [putSource(source)] : []),
    ...(secrets ? [putSecrets(secrets)] : []),
    ...events.flatMap((event) => putEvent(event, after.retentionDays, rules.ttls)),
    ...alerts.map(toAlertWrite),
    ...putMoments(change.moments ?? []),
    ...hours.flat(),
    ...(releasesSlotOf === undefined ? [] : [freeSlot(releasesSlotOf, runId)]),
    ...(totalsDelta ? [addToTotals(totalsDelta, runId)] : []),
    ...(isEnd ? await toEndWrites(table, after, rules.ttls) : []),
  ]);
  return result.kind === 'written' ? 'committed' : 'outdated';
}

/** Sets all columns except `published`, which changes separately. */
function setRun(after: StoredProgress, expectedVersion: number, rules: ItemRules): Write {
  const { pk, sk, published: _, ...columns } = toProgressItem(after, rules);
  const names = Object.keys(columns);
  const [set, gone] = [names.filter(isSet), names.filter((name) => !isSet(name))];
  return {
    kind: 'update',
    key: { pk, sk },
    change: `SET ${set.map((name) => `#${name} = :${name}`).join(', ')}${
      gone.length === 0 ? '' : ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}`
    }`,
    condition: '#version = :seen',
    values: {
      ...Object.fromEntries(set.map((name) => [`:${name}`, columns[name]])),
      ':seen': expectedVersion,
    },
  };

  function isSet(name: string): boolean {
    return columns[name] !== undefined;
  }
}

export function putSecrets(secrets: WatchSecrets): Write {
  return {
    kind: 'put',
    item: { ...itemKeys.watchSecrets(secrets.watch_id), record: JSON.stringify(secrets) },
  };
}

async function addToHour(
  table: Table,
  watchId: string,
  { hour, counts, seen: added }: ReturnType<typeof sumByHour>[number],
): Promise<Write[]> {
  if (counts.length === 0) return [];
  const key = itemKeys.watchHour(watchId, hour);
  const seen = added && extendHour(new Date(hour), readSeen(await table.get(key)), added);
  const ttl = Math.ceil(addSeconds(new Date(hour), statsRetentionSeconds).getTime() / 1000);
  const sums = counts.map(([name]) => `#${name} :${name}`).join(', ');
  const values = Object.fromEntries(counts.map(([name, value]) => [`:${name}`, value]));
  return [
    {
      kind: 'update',
      key,
      change: `SET #ttl = :ttl${seen ? ', #seen = :seen' : ''} ADD ${sums}`,
      values: { ...values, ':ttl': ttl, ...(seen && { ':seen': JSON.stringify(seen) }) },
    },
  ];
}

export function readSeen(item: Item | undefined): SeenHour | undefined {
  const { seen } = item ? readItem(seenItemSchema, item) : {};
  return seen === undefined ? undefined : seenHourSchema.parse(JSON.parse(seen));
}

/** Removes the job from the caller's slots. The slots are a set, so a repeated removal has no effect. */
function freeSlot(caller: string, jobId: string): Write {
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'DELETE #active :job',
    values: { ':job': new Set([jobId]) },
  };
}

function addToTotals(totals: Totals, jobId: string): Write {
  const added: Item = { ended: 1, ...totals };
  const names = Object.keys(added);
  return {
    kind: 'update',
    key: itemKeys.jobTotals(shardFor(jobId)),
    change: `ADD ${names.map((name) => `#${name} :${name}`).join(', ')}`,
    values: Object.fromEntries(names.map((name) => [`:${name}`, added[name]])),
  };
}

/**
 * Lists what follows from the end of a run. A job is no longer active, and its configuration and its source, which
 * contains credentials, expire with it. A deleted watch frees its place among the caller's watches and loses its
 * source.
 */
async function toEndWrites(
  table: Table,
  { runId, policy, progress }: StoredProgress,
  ttls: ItemTtls,
): Promise<Write[]> {
  const meta = await table.get(itemKeys.meta(runId));
  const inactive: Write[] = policy === 'watch' ? [] : [{ kind: 'delete', key: itemKeys.active(runId) }];
  if (meta === undefined) return inactive;
  const { caller, source_id: sourceId } = readItem(ownerSchema, parseRecord(meta));
  if (policy === 'watch')
    return [
      {
        kind: 'update',
        key: itemKeys.watchesOfCaller(caller),
        change: 'DELETE #watches :watch',
        values: { ':watch': new Set([runId]) },
      },
      { kind: 'delete', key: itemKeys.source(sourceId) },
    ];
  const { expires_at: expiresAt } = progress;
  const ttl = expiresAt ? ttls.afterExpiry(new Date(expiresAt)) : undefined;
  return [
    ...inactive,
    ...(ttl === undefined
      ? []
      : [itemKeys.source(sourceId), itemKeys.meta(runId)].map((key) => expire(key, ttl))),
  ];
}

function expire(key: ItemKey, ttl: number): Write {
  return { kind: 'update', key, change: 'SET #ttl = :ttl', values: { ':ttl': ttl } };
}

const seenItemSchema = z.object({ seen: z.string().optional() });
const ownerSchema = z.object({ caller: z.string(), source_id: z.string() });
