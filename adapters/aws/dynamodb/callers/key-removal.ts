import { z } from 'zod';
import { itemKeys, callerPartition, sortPrefixes } from '../table/keys.ts';
import { placesOfKey } from './key-store.ts';
import { readItem } from '../table/record.ts';
import type { Table } from '../table/table.ts';
import type { ItemKey } from '../table/write.ts';

/**
 * Removes the keys of a caller with their entries in lists. Keys of other callers that they created get their creator,
 * so that the chain of keys stays complete. Returns how many. A repetition continues an interrupted removal: the entry
 * among the caller's keys is last.
 */
export async function removeCallerKeys(table: Table, caller: string): Promise<number> {
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
  const made = await table.query({
    where: '#pk = :key AND begins_with(#sk, :made)',
    values: { ':key': own.pk, ':made': sortPrefixes.madeKey },
  });
  for (const entry of made) {
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
