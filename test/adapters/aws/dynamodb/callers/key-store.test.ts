import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemBackoff } from '../../../../../adapters/retry-with-backoff.ts';
import { createKeyStore } from '../../../../../adapters/aws/dynamodb/callers/key-store.ts';
import { openTable } from '../../../../../adapters/aws/dynamodb/table/open-table.ts';
import { newKey } from '../../../../contract/key-store.contract.ts';
import { after } from '../../../../contract/records.ts';
import { withDynamoLocal } from '../dynamo-local.ts';

withDynamoLocal((makeTable) => {
  const open = async () => {
    const table = openTable({ ...(await makeTable()), newId: randomUUID, ...systemBackoff });
    return { table, store: createKeyStore(table, systemBackoff) };
  };
  const monthAfter = (seconds: number) => after(seconds).getTime() / 1000 + 30 * 86_400;

  test('a revoked key and its places in lists expire after 30 days', async () => {
    const { table, store } = await open();
    const key = newKey();
    await store.put(key);
    await store.revoke(key.hash, after(20));
    await store.revoke(key.hash, after(10));

    const partitions = [`KEY#${key.hash}`, 'KEYS', `CALLER#${key.caller}`];
    const items = await Promise.all(
      partitions.map((pk) => table.query({ where: '#pk = :pk', values: { ':pk': pk } })),
    );
    const expiring = items.flat().filter(({ sk }) => sk !== 'GOOD_KEYS');
    expect(expiring.map(({ ttl }) => ttl)).toEqual([monthAfter(10), monthAfter(10), monthAfter(10)]);
  });

  test('a revoked key that made others leaves the lists only, so that what came of it is found by its maker', async () => {
    const { table, store } = await open();
    const maker = newKey();
    const key = newKey({ created_by: maker.hash });
    const made = newKey({ created_by: key.hash });
    await store.put(maker);
    await store.create(key, 100);
    await store.create(made, 100);
    await store.revoke(key.hash, after(10));

    const ttls = async (pk: string, sk: string) => (await table.get({ pk, sk }))?.['ttl'];
    expect(await ttls(`KEY#${key.hash}`, 'META')).toBeUndefined();
    expect(await ttls(`KEY#${maker.hash}`, `MADE#${key.hash}`)).toBeUndefined();
    expect(await ttls('KEYS', `${key.created_at}#${key.hash}`)).toBe(monthAfter(10));
  });

  test('a page is full although keys that expired left their places behind', async () => {
    const { table, store } = await open();
    const keys = [1, 2, 3, 4].map((minute) => newKey({ created_at: after(minute * 60).toISOString() }));
    for (const key of keys) await store.put(key);
    for (const { hash } of keys.slice(0, 2))
      await table.write({ kind: 'delete', key: { pk: `KEY#${hash}`, sk: 'META' } });

    expect(await store.list({ caller: 'harbour', limit: 2 })).toEqual(keys.slice(2));
    expect(await store.list({ limit: 2 })).toEqual(keys.slice(2));
  });

  test('keys whose list is missing are counted again', async () => {
    const { table, store } = await open();
    const keys = [newKey(), newKey()];
    for (const key of keys) await store.put(key);
    await table.write({ kind: 'delete', key: { pk: 'CALLER#harbour', sk: 'GOOD_KEYS' } });

    expect(await store.create(newKey(), 2)).toBe('full');
    await store.revoke(keys[0]!.hash, after(-10));
    expect(await store.create(newKey(), 2)).toBe('created');
  });
});
