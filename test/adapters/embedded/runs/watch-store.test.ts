import { embeddedRuns } from '../../../support/select-runs.ts';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { after, start } from '../../../contract/records.ts';
import { newCreation } from '../../../contract/watch-records.ts';
import { describeRunStore } from '../../../contract/run-store.contract.ts';
import { describeWatchStore } from '../../../contract/watch-store.contract.ts';

describeWatchStore('The embedded store', async () => embeddedRuns(openDatabase(':memory:')).watches);
describeRunStore('The embedded store', async () => embeddedRuns(openDatabase(':memory:')));

test('the stream of a watch is read as that of a job is, and is gone after a deletion', async () => {
  const database = openDatabase(':memory:');
  const store = embeddedRuns(database).watches;
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
  const store = embeddedRuns(openDatabase(':memory:')).watches;
  await store.create(newCreation(), start);
  expect(await store.sweep(after(6 * 86_400))).toBe(0);
  expect(await store.sweep(after(8 * 86_400))).toBe(1);
});
