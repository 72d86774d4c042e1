import { z } from 'zod';
import { apiKeySchema, isRevoked, type ApiKey } from '../../../../core/records/key.ts';
import { revokedKeySeconds, type KeyPage, type KeyStore } from '../../../../core/ports/callers.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { retryWithJitter } from '../table/retries.ts';
import { callerPartition, itemKeys, sortPrefixes } from '../table/keys.ts';
import { readItem } from '../table/record.ts';
import { keyPrefixes } from '../table/table-layout.ts';
import type { Table, Check, Item, ItemKey, Write } from '../table/table.ts';

/** Minimum number of valid keys of a caller at which its list is read for expired ones, even without a limit. */
const pruneFrom = 100;

/** Creates the key store. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createKeyStore(table: Table, backoff: BackoffDeps): KeyStore {
  const create: KeyStore['create'] = (key, maxGood) =>
    retryWithJitter(() => tryCreate(table, key, maxGood), backoff);
  return {
    put: async (key) => {
      await create({ ...key, created_by: null }, Infinity);
    },
    create,
    find: async (hash) => {
      const item = isHash(hash) ? await table.get(itemKeys.apiKey(hash)) : undefined;
      return item && readItem(apiKeySchema, item);
    },
    list: (page) => list(table, page),
    listMadeBy: async (hash) => {
      if (!isHash(hash)) return [];
      const { pk } = itemKeys.apiKey(hash);
      const places = await table.query({
        where: '#pk = :key AND begins_with(#sk, :made)',
        values: { ':key': pk, ':made': sortPrefixes.madeKey },
      });
      return keysAt(table, places);
    },
    creationTime: async (caller, position) => {
      const newest = await table.query({ ...ofCaller(caller), newestFirst: true, limit: position + 1 });
      const place = newest[position];
      return place && new Date(readItem(placeSchema, place).sk.split('#').at(-2) ?? '');
    },
    revoke: async (hash, time) => {
      if (isHash(hash)) await retryWithJitter(() => tryRevoke(table, hash, time), backoff);
    },
    relabel: async (hash, label) => {
      await change(table, hash, 'label', label, 'attribute_exists(#pk)');
    },
    touch: async (hash, time) => {
      const isNewer = `${isNull('last_used_at')} OR #last_used_at < :value`;
      await change(table, hash, 'last_used_at', time.toISOString(), isNewer);
    },
    claim: async (hash, time) => {
      const isUnused = `${isNull('last_used_at')} AND (${isNull('revoked_at')} OR #revoked_at > :value)`;
      return change(table, hash, 'last_used_at', time.toISOString(), isUnused);
    },
  };
}

/**
 * Stores a key with its items in lists, and its hash in the caller's item of active keys. That item is counted: it
 * holds all active keys, and some that were revoked since. A concurrent change of that item, or a revocation of the
 * creating key, is a conflict: the result is undefined.
 */
async function tryCreate(
  table: Table,
  key: ApiKey,
  maxGood: number,
): Promise<Awaited<ReturnType<KeyStore['create']>> | undefined> {
  const { version, hashes } = await readGood(table, key, maxGood);
  if (hashes.length >= maxGood) return (await table.get(itemKeys.apiKey(key.hash))) ? 'created' : 'full';
  const writes: Write[] = [
    {
      kind: 'put',
      item: { ...itemKeys.apiKey(key.hash), ...key },
      condition: 'attribute_not_exists(#pk)',
    },
    {
      kind: 'put',
      item: { ...itemKeys.goodKeys(key.caller), version: version + 1, hashes: [...hashes, key.hash] },
      condition: version === 0 ? 'attribute_not_exists(#pk)' : '#version = :seen',
      ...(version > 0 && { values: { ':seen': version } }),
    },
    ...(key.created_by === null ? [] : [markMaker(key.created_by)]),
    ...placesOfKey(key).map((place): Write => ({ kind: 'put', item: { ...place, hash: key.hash } })),
  ];
  const result = await table.transact(writes);
  if (result.kind === 'written') return 'created';
  const [exists, , makerRevoked] = result.refused;
  // A repeated creation changes nothing: it must not undo a revocation that came between.
  if (exists) return 'created';
  return key.created_by !== null && makerRevoked ? 'maker_revoked' : undefined;
}

/** Reads the hashes of the valid keys of a caller. A missing item is created from the list of keys. */
async function readGood(
  table: Table,
  { caller, created_at: createdAt }: ApiKey,
  maxGood: number,
): Promise<GoodKeys> {
  const item = await table.get(itemKeys.goodKeys(caller));
  const { version, hashes } = readItem(goodKeysSchema, item ?? {});
  if (item && hashes.length < Math.min(maxGood, pruneFrom)) return { version, hashes };
  const keys = item ? await getKeys(table, hashes) : await keysAt(table, await table.query(ofCaller(caller)));
  const good = keys.filter((key) => !isRevoked(key, new Date(createdAt)));
  return { version, hashes: good.map(({ hash }) => hash) };
}

async function list(table: Table, { caller, after, limit }: KeyPage): Promise<ApiKey[]> {
  const keys: ApiKey[] = [];
  let behind = after && (caller === undefined ? placeAmongAll(after).sk : sortOfCaller(after));
  while (keys.length < limit) {
    const wanted = limit - keys.length;
    const places = await table.query({
      ...(caller === undefined ? all(behind) : ofCaller(caller, behind)),
      limit: wanted,
    });
    keys.push(...(await keysAt(table, places)));
    // DynamoDB deletes a key and its entries in lists some days after their TTL, at different times.
    const last = places.at(-1);
    if (last === undefined || places.length < wanted) break;
    behind = readItem(placeSchema, last).sk;
  }
  return keys;
}

/**
 * Revokes a key, with a TTL for the key and its entries in lists. A key that created others keeps its item and its
 * entry with its creator, so that the chain of descendants stays complete. Returns undefined if it created one
 * meanwhile.
 */
async function tryRevoke(table: Table, hash: string, time: Date): Promise<'done' | undefined> {
  const item = await table.get(itemKeys.apiKey(hash));
  if (!item) return 'done';
  const key = readItem(apiKeySchema, item);
  if (key.revoked_at !== null && new Date(key.revoked_at) <= time) return 'done';
  const hasMade = readItem(makerSchema, item).has_made;
  const ttl = Math.ceil(time.getTime() / 1000) + revokedKeySeconds;
  const result = await table.transact([
    {
      kind: 'update',
      key: itemKeys.apiKey(hash),
      change: hasMade ? 'SET #revoked_at = :value' : 'SET #revoked_at = :value, #ttl = :ttl',
      condition: `(${isNull('revoked_at')} OR #revoked_at > :value) AND ${hasMade ? 'attribute_exists' : 'attribute_not_exists'}(#has_made)`,
      values: { ':value': time.toISOString(), ':null': 'NULL', ...(!hasMade && { ':ttl': ttl }) },
    },
    ...placesOfKey(key)
      .filter(({ sk }) => !hasMade || !sk.startsWith(sortPrefixes.madeKey))
      .map((place): Write => ({ kind: 'put', item: { ...place, hash, ttl } })),
  ]);
  return result.kind === 'written' ? 'done' : undefined;
}

/** Changes one attribute. Returns false and does nothing if the condition fails, or the key does not exist. */
async function change(
  table: Table,
  hash: string,
  name: string,
  value: string | null,
  condition: string,
): Promise<boolean> {
  if (!isHash(hash)) return false;
  const nullType = condition.includes(':null') ? { ':null': 'NULL' } : {};
  const result = await table.write({
    kind: 'update',
    key: itemKeys.apiKey(hash),
    change: `SET #${name} = :value`,
    condition,
    values: { ':value': value, ...nullType },
  });
  return result.kind === 'written';
}

async function keysAt(table: Table, places: Item[]): Promise<ApiKey[]> {
  const hashes = places.map((place) => readItem(placeSchema, place).hash);
  return getKeys(table, hashes);
}

/** Reads existing keys, in the order of the hashes. */
async function getKeys(table: Table, hashes: string[]): Promise<ApiKey[]> {
  const items = await table.getMany(hashes.map(itemKeys.apiKey));
  return items.flatMap((item) => (item ? [readItem(apiKeySchema, item)] : []));
}

/** Marks a key as the creator of others, on condition that it is neither revoked nor replaced. */
function markMaker(hash: string): Write {
  return {
    kind: 'update',
    key: itemKeys.apiKey(hash),
    change: 'SET #has_made = :true',
    condition: `attribute_exists(#pk) AND ${isNull('revoked_at')}`,
    values: { ':true': true, ':null': 'NULL' },
  };
}

/** Condition of a transaction: the key is stored for the caller and not revoked. An erased caller has no key. */
export function requireValidKey(hash: string, caller: string, now: Date): Check {
  return {
    kind: 'check',
    key: itemKeys.apiKey(hash),
    condition: `#caller = :caller AND (${isNull('revoked_at')} OR #revoked_at > :now)`,
    values: { ':caller': caller, ':null': 'NULL', ':now': now.toISOString() },
  };
}

/** Condition for an attribute that is null. Timestamps have one format, so they compare as text. */
function isNull(name: string): string {
  return `attribute_type(#${name}, :null)`;
}

/** Returns true for the length of a hash. Paths contain arbitrary text, and DynamoDB rejects long keys. */
function isHash(hash: string): boolean {
  return hash.length === 64;
}

/** Returns the positions of a key in all lists that contain it. */
export function placesOfKey(key: Pick<ApiKey, 'hash' | 'caller' | 'created_at' | 'created_by'>): ItemKey[] {
  return [
    placeAmongAll(key),
    { pk: callerPartition(key.caller), sk: sortOfCaller(key) },
    ...(key.created_by === null
      ? []
      : [{ pk: itemKeys.apiKey(key.created_by).pk, sk: `${sortPrefixes.madeKey}${key.hash}` }]),
  ];
}

type Position = Pick<ApiKey, 'created_at' | 'hash'>;

function placeAmongAll({ created_at: createdAt, hash }: Position): ItemKey {
  return { pk: keyPrefixes.keys, sk: `${createdAt}#${hash}` };
}

function sortOfCaller({ created_at: createdAt, hash }: Position): string {
  return `${sortPrefixes.apiKey}${createdAt}#${hash}`;
}

function all(behind?: string) {
  return {
    where: behind === undefined ? '#pk = :keys' : '#pk = :keys AND #sk > :behind',
    values: { ':keys': keyPrefixes.keys, ...(behind !== undefined && { ':behind': behind }) },
  };
}

/** A place of the caller's list ends before any other item of the caller that sorts behind it. */
function ofCaller(caller: string, behind?: string) {
  return behind === undefined
    ? {
        where: '#pk = :caller AND begins_with(#sk, :key)',
        values: { ':caller': callerPartition(caller), ':key': sortPrefixes.apiKey },
      }
    : {
        where: '#pk = :caller AND #sk BETWEEN :behind AND :end',
        values: {
          ':caller': callerPartition(caller),
          ':behind': `${behind}!`,
          ':end': `${sortPrefixes.apiKey}~`,
        },
      };
}

const placeSchema = z.object({ sk: z.string(), hash: z.string() });

const makerSchema = z.object({ has_made: z.boolean().default(false) });

const goodKeysSchema = z.object({
  version: z.int().nonnegative().default(0),
  hashes: z.array(z.string()).default([]),
});
type GoodKeys = z.infer<typeof goodKeysSchema>;
