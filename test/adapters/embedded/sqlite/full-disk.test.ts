import { embeddedRuns } from '../../../support/select-runs.ts';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { TransientError } from '../../../../core/errors.ts';
import type { Job } from '../../../../core/records/job.ts';
import {
  begin,
  changed,
  createChange,
  createCreation,
  newJob,
  progress,
  start,
} from '../../../contract/records.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

test('a full disk is a transient error: no partial write, reads continue, and writes continue when there is space', async () => {
  const database = openDatabase(join(folderOfTest(), 'watchpost.sqlite'));
  const store = embeddedRuns(database).jobs;
  let job = newJob();
  await store.create(createCreation(job), start);
  await store.commit(begin(job));
  job = changed(job, begin(job));
  database.exec('PRAGMA max_page_count = 40');

  const full = await fill();

  expect(full).toBeInstanceOf(TransientError);
  expect(full).toHaveProperty('message', expect.stringContaining('full. Free some space'));
  expect(await store.get(job.run_id, start)).toEqual(job);
  expect(await store.events(job.run_id, job.sequence, 10, new Date(0))).toEqual([]);
  await expect(
    store.create(createCreation(newJob({ stream_url: 'x'.repeat(20_000) })), start),
  ).rejects.toThrow(TransientError);
  expect(await store.countActive('harbour')).toBe(1);

  database.exec('PRAGMA max_page_count = 100000');
  expect(await store.commit(bigTick(job))).toBe('committed');
  expect(await store.events(job.run_id, 0, 1_000, new Date(0))).toHaveLength(job.sequence + 1);

  /** Commits until a commit fails. */
  async function fill(): Promise<unknown> {
    for (let count = 0; count < 1_000; count += 1) {
      try {
        await store.commit(bigTick(job));
        job = changed(job, bigTick(job));
      } catch (error) {
        return error;
      }
    }
    return undefined;
  }
});

function bigTick(job: Job) {
  if (progress.type !== 'progress') throw new Error('Not progress');
  return createChange(job, [{ ...progress, data: { ...progress.data, explanation: 'x'.repeat(5_000) } }]);
}
