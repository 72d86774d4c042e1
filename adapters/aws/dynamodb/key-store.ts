import { z } from 'zod';
import { apiKeySchema, type ApiKey } from '../../../core/key.ts';
import type { KeyStore } from '../../../core/ports/key-store.ts';
import { callerPartition, keyOf, sortPrefixes } from './keys.ts';
import { readItem } from './record.ts';
import { keyPrefixes } from './table-layout.ts';
import type { Table } from './table.ts';
import type { Item, Key, Write } from './write.ts';

/** Creates the key store. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createKeyStore(table: Table): KeyStore {
  return {
    /**
     * Adds a key with its entries in two lists. A repeated put changes nothing, so that it cannot undo a
     * revocation.
     */
    put: async (key) => {
      const item = { ...keyOf.apiKey(key.hash), ...key };
      const entries = [entryInAll(key), entryOfCaller(key)];
      await table.transact([
        { kind: 'put', item, condition: 'attribute_not_exists(#pk)' },
        ...entries.map((entry): Write => ({ kind: 'put', item: { ...entry, hash: key.hash } })),
      ]);
    },
    find: async (hash) => {
      const item = isHash(hash) ? await table.get(keyOf.apiKey(hash)) : undefined;
      return item && readItem(apiKeySchema, item);
    },
    list: async (caller) => {
      const entries = await table.query(caller === undefined ? all : ofCaller(caller));
      const hashes = entries.map((entry) => readItem(entrySchema, entry).hash);
      return inOrder(hashes, await table.getMany(hashes.map(keyOf.apiKey)));
    },
    revoke: async (hash, at) =>
      change(hash, 'revoked_at', at.toISOString(), `${isNull('revoked_at')} OR #revoked_at > :value`),
    relabel: async (hash, label) => change(hash, 'label', label, 'attribute_exists(#pk)'),
    touch: async (hash, at) =>
      change(hash, 'last_used_at', at.toISOString(), `${isNull('last_used_at')} OR #last_used_at < :value`),
  };

  /** Updates one attribute if the condition is met. No condition is met if the key does not exist. */
  async function change(hash: string, name: string, value: string | null, condition: string): Promise<void> {
    if (!isHash(hash)) return;
    const nullType = condition.includes(':null') ? { ':null': 'NULL' } : {};
    await table.write({
      kind: 'update',
      key: keyOf.apiKey(hash),
      change: `SET #${name} = :value`,
      condition,
      values: { ':value': value, ...nullType },
    });
  }
}

/** Condition for an attribute that is null. Timestamps have one format, so they compare as text. */
function isNull(name: string): string {
  return `attribute_type(#${name}, :null)`;
}

/** Returns true for the length of a hash. Paths contain arbitrary text, and DynamoDB rejects long keys. */
function isHash(hash: string): boolean {
  return hash.length === 64;
}

function entryInAll({ created_at: createdAt, hash }: ApiKey): Key {
  return { pk: keyPrefixes.keys, sk: `${createdAt}#${hash}` };
}

function entryOfCaller({ caller, created_at: createdAt, hash }: ApiKey): Key {
  return { pk: callerPartition(caller), sk: `${sortPrefixes.apiKey}${createdAt}#${hash}` };
}

const all = { where: '#pk = :keys', values: { ':keys': keyPrefixes.keys } };

function ofCaller(caller: string) {
  return {
    where: '#pk = :caller AND begins_with(#sk, :key)',
    values: { ':caller': callerPartition(caller), ':key': sortPrefixes.apiKey },
  };
}

const entrySchema = z.object({ hash: z.string() });

function inOrder(hashes: string[], items: Item[]): ApiKey[] {
  const keys = new Map(items.map((item) => readItem(apiKeySchema, item)).map((key) => [key.hash, key]));
  return hashes.flatMap((hash) => keys.get(hash) ?? []);
}
