import { callerSchema } from '../../../../core/records/caller.ts';
import type { CallerStore, CallerEraser, CallerWork } from '../../../../core/ports/callers.ts';
import { itemKeys, callerPartition, readRunId, shards, sortPrefixes } from '../table/keys.ts';
import { readItem, readKey } from '../table/record.ts';
import { keyPrefixes, alertsOfCaller, jobsByCaller } from '../table/table-layout.ts';
import type { Table, Item, ItemKey } from '../table/table.ts';
import { z } from 'zod';
import { removeItems, removePartition } from '../table/remove-items.ts';
import { repairShard } from '../runs/run-item.ts';
import { readRuns } from '../runs/job-list.ts';
import { queryRepairIndex, removeRun, toWork } from '../runs/run-store.ts';
import { placesOfKey } from './key-store.ts';

/**
 * Creates the caller store: one partition, sorted by name. Its methods throw `TransientError`, and `StorageError`
 * for an unreadable record.
 */
export function createCallerStore(table: Table): CallerStore {
  return {
    add: async (caller) => {
      const item = { ...itemKeys.caller(caller.caller), ...caller };
      await table.write({ kind: 'put', item, condition: 'attribute_not_exists(#pk)' });
    },
    find: async (caller) => {
      if (!isName(caller)) return undefined;
      const item = await table.get(itemKeys.caller(caller));
      return item && readItem(callerSchema, item);
    },
    list: async (after, limit) => {
      const partition = { ':callers': keyPrefixes.callers };
      const items = await table.query(
        after === ''
          ? { where: '#pk = :callers', values: partition, limit }
          : {
              where: '#pk = :callers AND #sk > :after',
              values: { ...partition, ':after': after.slice(0, maxNameLength + 1) },
              limit,
            },
      );
      return items.map((item) => readItem(callerSchema, item));
    },
    replaceSecret: async (caller, expectedVersion, secret) => {
      if (!isName(caller)) return 'outdated';
      const result = await table.write({
        kind: 'update',
        key: itemKeys.caller(caller),
        change: 'SET #webhook_secret = :secret',
        condition: '#webhook_secret.#version = :expected',
        values: { ':secret': secret, ':expected': expectedVersion },
      });
      return result.kind === 'written' ? 'replaced' : 'outdated';
    },
    setWebhookEvents: async (caller, events) => {
      if (!isName(caller)) return;
      await table.write({
        kind: 'update',
        key: itemKeys.caller(caller),
        change: 'SET #webhook_events = :events',
        condition: 'attribute_exists(#pk)',
        values: { ':events': events },
      });
    },
  };
}

/** Maximum length of a name. DynamoDB rejects empty keys and keys over one kilobyte. */
const maxNameLength = 64;

function isName(caller: string): boolean {
  return caller.length > 0 && caller.length <= maxNameLength;
}

/**
 * Creates the eraser of callers. Its methods throw `TransientError`. Point-in-time recovery keeps removed items for its
 * period.
 */
export function createCallerEraser(table: Table): CallerEraser {
  return {
    removeKeys: (caller) => removeCallerKeys(table, caller),
    listWork: async (caller, limit) => {
      const ids = [...new Set([...(await listJobIds(caller)), ...(await listWatchIds(caller))])];
      const work: CallerWork[] = [];
      // The index still lists jobs whose other item has expired: a page of them is not the end.
      for (let from = 0; from < ids.length && work.length < limit; from += limit) {
        const runs = await readRuns(table, ids.slice(from, from + limit).map(itemKeys.meta));
        work.push(...runs.filter((run) => run.caller === caller).map(toWork));
      }
      return work.slice(0, limit);
    },
    removeWork: (caller, work) => removeRun(table, caller, work),
    removeCaller: async (caller) => {
      const alerts = await table.query({
        index: jobsByCaller.name,
        where: '#caller = :caller',
        values: { ':caller': `${alertsOfCaller}${caller}` },
      });
      await removeItems(table, alerts.map(readKey));
      await removePartition(table, callerPartition(caller));
      await removeItems(table, [
        itemKeys.caller(caller),
        itemKeys.calls(caller),
        itemKeys.eventSessions(caller),
      ]);
      // A check under way may have counted its use meanwhile; it finds that the caller is gone from now on.
      await removePartition(table, callerPartition(caller));
    },
  };

  async function listJobIds(caller: string): Promise<string[]> {
    const listed = await table.query({
      index: jobsByCaller.name,
      where: '#caller = :caller',
      values: { ':caller': caller },
    });
    // The index lags: a new job is among the slots first.
    const { active } = readItem(slotsSchema, (await table.get(itemKeys.slots(caller))) ?? {});
    return [...listed.map(readId), ...active];
  }

  /**
   * A deleted watch is no longer in the caller's set until it is purged; all watches that are to be purged are in the
   * index of repairs.
   */
  async function listWatchIds(caller: string): Promise<string[]> {
    const { watches } = readItem(watchesSchema, (await table.get(itemKeys.watchesOfCaller(caller))) ?? {});
    const due = await Promise.all(
      shards.map((shard) => queryRepairIndex(table, repairShard('watch', shard))),
    );
    return [...watches, ...due.flat().map(readId)];
  }
}

const slotsSchema = z.object({ active: z.set(z.string()).default(new Set()) });
const watchesSchema = z.object({ watches: z.set(z.string()).default(new Set()) });

function readId(item: Item): string {
  return readRunId(readKey(item));
}

/**
 * Removes the keys of a caller with their entries in lists. Keys of other callers that they created get their creator,
 * so that the chain of keys stays complete. Returns how many. A repetition continues an interrupted removal: the entry
 * among the caller's keys is last.
 */
async function removeCallerKeys(table: Table, caller: string): Promise<number> {
  const entries = await table.query({
    where: '#pk = :caller AND begins_with(#sk, :key)',
    values: { ':caller': callerPartition(caller), ':key': sortPrefixes.apiKey },
  });
  for (const entry of entries) {
    const { pk, sk, hash } = readItem(entrySchema, entry);
    const createdAt = sk.slice(sortPrefixes.apiKey.length, -hash.length - 1);
    await removeKey(table, { hash, caller, created_at: createdAt });
    await remove(table, { pk, sk });
  }
  return entries.length;
}

async function removeKey(
  table: Table,
  key: { hash: string; caller: string; created_at: string },
): Promise<void> {
  const own = itemKeys.apiKey(key.hash);
  const { created_by } = readItem(makerSchema, (await table.get(own)) ?? {});
  const madeKeys = await table.query({
    where: '#pk = :key AND begins_with(#sk, :made)',
    values: { ':key': own.pk, ':made': sortPrefixes.madeKey },
  });
  for (const entry of madeKeys) {
    const { pk, sk, hash } = readItem(entrySchema, entry);
    if (created_by !== null) await moveTo(table, created_by, hash);
    await table.write({
      kind: 'update',
      key: itemKeys.apiKey(hash),
      change: 'SET #created_by = :maker',
      condition: 'attribute_exists(#pk)',
      values: { ':maker': created_by },
    });
    await remove(table, { pk, sk });
  }
  for (const place of placesOfKey({ ...key, created_by })) await remove(table, place);
  await remove(table, own);
}

/**
 * Adds a key to those that `maker` created. A revoked creator is kept, as `revoke` does for a key that created others.
 */
async function moveTo(table: Table, maker: string, hash: string): Promise<void> {
  const { pk } = itemKeys.apiKey(maker);
  await table.transact([
    {
      kind: 'update',
      key: itemKeys.apiKey(maker),
      change: 'SET #has_made = :true REMOVE #ttl',
      condition: 'attribute_exists(#pk)',
      values: { ':true': true },
    },
    { kind: 'put', item: { pk, sk: `${sortPrefixes.madeKey}${hash}`, hash } },
  ]);
}

async function remove(table: Table, key: ItemKey): Promise<void> {
  await table.write({ kind: 'delete', key });
}

const entrySchema = z.object({ pk: z.string(), sk: z.string(), hash: z.string() });
const makerSchema = z.object({ created_by: z.string().nullable().default(null) });
