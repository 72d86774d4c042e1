import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createWatchStore } from '../../../../adapters/embedded/runs/watch-store.ts';
import { after, start } from '../../../contract/records.ts';
import { newCreation } from '../../../contract/watch-records.ts';
import { describeWatchStore } from '../../../contract/watch-store.contract.ts';

describeWatchStore('The embedded store', async () => createWatchStore(openDatabase(':memory:')));

test('the stream of a watch is read as that of a job is, and is gone after a deletion', async () => {
  const database = openDatabase(':memory:');
  const store = createWatchStore(database);
  const watch = newCreation();
  await store.create(watch, start);
  expect(await store.source(watch.source_id)).toEqual(watch.source);
  const deletion = { deleted_at: start.toISOString() };
  await store.commit({
    runId: watch.run_id,
    expectedVersion: 0,
    set: deletion,
    events: [],
  });
  expect(await store.source(watch.source_id)).toBeUndefined();
});

test('a sweep removes events after their retention', async () => {
  const store = createWatchStore(openDatabase(':memory:'));
  await store.create(newCreation(), start);
  expect(store.sweep(after(6 * 86_400))).toBe(0);
  expect(store.sweep(after(8 * 86_400))).toBe(1);
});
