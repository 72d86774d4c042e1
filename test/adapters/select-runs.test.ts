import { expect, test } from 'vitest';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { createJobStore } from '../../adapters/embedded/runs/job-store.ts';
import { createWatchStore } from '../../adapters/embedded/runs/watch-store.ts';
import { after, begin, changed, createCreation, newJob, start } from '../contract/records.ts';
import { newCreation, toStored } from '../contract/watch-records.ts';

test('a store of jobs has no watch, and a store of watches no job', async () => {
  const database = openDatabase(':memory:');
  const [jobs, watches] = [createJobStore(database), createWatchStore(database)];
  const job = newJob();
  await jobs.create(createCreation(job), start);
  await jobs.commit(begin(job));
  const watch = newCreation({ caller: job.caller });
  await watches.create(watch, start);
  const [jobId, watchId] = [job.run_id, watch.run_id];

  expect(await jobs.getIncludingEnded(jobId)).toEqual(changed(job, begin(job)));
  expect(await watches.getIncludingEnded(watchId)).toEqual(toStored(watch));
  for (const [store, id] of [
    [jobs, watchId],
    [watches, jobId],
  ] as const) {
    expect(await store.get(id, start)).toBeUndefined();
    expect(await store.getIncludingEnded(id)).toBeUndefined();
    expect(await store.events(id, 0, 10, start)).toEqual([]);
    expect(await store.event(id, 1)).toBeUndefined();
  }
  expect(await jobs.dueForRepair(after(86_400), 10)).toEqual([jobId]);
  expect(await watches.dueForRepair(after(86_400), 10)).toEqual([watchId]);
  expect((await jobs.list({ caller: job.caller, limit: 10, offset: 0 }, start)).total).toBe(1);
  expect(await watches.list(job.caller)).toHaveLength(1);
});
