import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createKeyStore } from '../../../../adapters/embedded/callers/key-store.ts';
import { describeKeyStore, newKey } from '../../../contract/key-store.contract.ts';
import { after } from '../../../contract/records.ts';

describeKeyStore('The embedded store', async () => createKeyStore(openDatabase(':memory:')));

test('a sweep removes keys that were revoked long ago and keeps all others', async () => {
  const store = createKeyStore(openDatabase(':memory:'));
  const [over, ending, good] = [newKey(), newKey(), newKey()];
  for (const key of [over, ending, good]) await store.put(key);
  await store.revoke(over.hash, after(10));
  await store.revoke(ending.hash, after(20));

  expect(await store.sweep(after(20))).toBe(1);

  const left = (await store.list({ limit: 100 })).map(({ hash }) => hash);
  expect(left.toSorted()).toEqual([ending.hash, good.hash].toSorted());
});

test('a removed key passes its child keys to its parent', async () => {
  const store = createKeyStore(openDatabase(':memory:'));
  const first = newKey();
  const second = newKey({ created_by: first.hash });
  const third = newKey({ created_by: second.hash });
  const fourth = newKey({ created_by: third.hash });
  await store.put(first);
  for (const key of [second, third, fourth]) await store.create(key, 100);
  await store.revoke(third.hash, after(5));
  await store.revoke(second.hash, after(10));

  expect(await store.sweep(after(20))).toBe(2);

  expect((await store.listMadeBy(first.hash)).map(({ hash }) => hash)).toEqual([fourth.hash]);
});
