import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createJobStore } from '../../../adapters/embedded/job-store.ts';
import { createWatchStore } from '../../../adapters/embedded/watch-store.ts';
import { migrations } from '../../../adapters/embedded/schema.ts';
import { after, createCreation, newJob, start } from '../../contract/records.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';
import { newCreation } from '../../contract/watch-records.ts';
import { describeWatchStore } from '../../contract/watch-store.contract.ts';

describeWatchStore('The embedded store', async () => createWatchStore(openDatabase(':memory:')));

test('the stream of a watch is read as that of a job is, and is gone after a deletion', async () => {
  const database = openDatabase(':memory:');
  const [store, jobs] = [createWatchStore(database), createJobStore(database)];
  const { watch, source, ...rest } = newCreation();
  await store.create({ watch, source, ...rest }, start);
  expect(await jobs.source(watch.source_id)).toEqual(source);
  const deletion = { deleted_at: start.toISOString() };
  await store.commit({
    watchId: watch.watch_id,
    expectedVersion: 0,
    set: deletion,
    events: [],
    alerts: [],
    hours: [],
  });
  expect(await jobs.source(watch.source_id)).toBeUndefined();
});

test('a sweep removes events after their retention', async () => {
  const store = createWatchStore(openDatabase(':memory:'));
  await store.create(newCreation(), start);
  expect(store.sweep(after(6 * 86_400))).toBe(0);
  expect(store.sweep(after(8 * 86_400))).toBe(1);
});

test('a database of the release before opens with its jobs and stores watches', async () => {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  const before = new DatabaseSync(path);
  const withoutWatches = migrations.findIndex((sql) => sql.includes('CREATE TABLE watches'));
  for (const sql of migrations.slice(0, withoutWatches)) before.exec(sql);
  before.exec(`PRAGMA user_version = ${withoutWatches}`);
  const job = newJob();
  await createJobStore(before).create(createCreation(job), start);
  before.close();

  const database = openDatabase(path);
  const store = createWatchStore(database);
  const creation = newCreation();
  await store.create(creation, start);

  expect(await createJobStore(database).get(job.job_id, start)).toEqual(job);
  expect(await store.get(creation.watch.watch_id)).toEqual({ watch: creation.watch, run: creation.run });
  database.close();
});
