import type { JobRuns } from '../support/select-runs.ts';
import { expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { MonitorJob } from '../../core/records/job.ts';
import { withLostReplies } from './lost-replies.ts';
import { after, begin, createChange, createCreation, end, newJob, progress, start } from './records.ts';

/** Contract of `JobStore`, part 4: finding work that a crash interrupted. */
export function jobRepairCases(makeStore: () => Promise<JobRuns>): void {
  const hook = { webhook_url: 'https://receiver.example/hook' };

  test('the published sequence never decreases', async () => {
    const { store, job } = await withJob(makeStore, {});
    const published = async () => (await store.get(job.run_id, start))?.published;

    await store.markPublished(job.run_id, 3);
    expect(await published()).toBe(3);
    await store.markPublished(job.run_id, 2);
    expect(await published()).toBe(3);
    await Promise.all([5, 4, 6].map((sequence) => store.markPublished(job.run_id, sequence)));
    expect(await published()).toBe(6);
  });

  test('a repeated mark and a mark for a removed job have no effect', async () => {
    const { store, job } = await withJob(makeStore, {});
    const losing = withLostReplies(store);

    await expect(losing.markPublished(job.run_id, 1)).rejects.toThrow(TransientError);
    await losing.markPublished(job.run_id, 1);
    await losing.markPublished(newJob().run_id, 1);

    expect((await store.get(job.run_id, start))?.published).toBe(1);
  });

  test('pending and running jobs are due when their lease has expired', async () => {
    const { store, job: pending } = await withJob(makeStore, {});
    const running = newJob({ lease_until: after(30).toISOString() });
    await store.create(createCreation(running), start);
    await store.commit(begin(running));

    expect(await store.dueForRepair(after(29), 10)).toEqual([]);
    expect(await store.dueForRepair(after(31), 10)).toEqual([running.run_id]);
    expect((await store.dueForRepair(after(61), 10)).toSorted()).toEqual(
      [pending.run_id, running.run_id].toSorted(),
    );
  });

  test('a job whose lease was extended is not due any more', async () => {
    const { store, job } = await withJob(makeStore, {});
    await store.commit(createChange(job, [progress], { set: { lease_until: after(600).toISOString() } }));

    expect(await store.dueForRepair(after(61), 10)).toEqual([]);
  });

  test('a job with a webhook is due until its newest events are published', async () => {
    const { store, job } = await withJob(makeStore, hook);
    expect(await store.dueForRepair(start, 10)).toEqual([]);
    await store.commit(begin(job));

    expect(await store.dueForRepair(start, 10)).toEqual([job.run_id]);
    await store.markPublished(job.run_id, 1);
    expect(await store.dueForRepair(start, 10)).toEqual([]);
  });

  test('progress alone is not due, as no webhook receives it', async () => {
    const { store, job } = await withJob(makeStore, hook);
    await store.commit(createChange(job, [progress]));

    expect(await store.dueForRepair(start, 10)).toEqual([]);
  });

  test('a job without a webhook has nothing to publish', async () => {
    const { store, job } = await withJob(makeStore, {});
    await store.commit(begin(job));

    expect(await store.dueForRepair(start, 10)).toEqual([]);
  });

  test('an ended job is due while its last event is unpublished, regardless of its lease', async () => {
    const { store, job } = await withJob(makeStore, hook);
    await store.commit(end(job));

    expect(await store.dueForRepair(after(1_000), 10)).toEqual([job.run_id]);
    await store.markPublished(job.run_id, 1);
    expect(await store.dueForRepair(after(1_000), 10)).toEqual([]);
  });

  test('a job that is due for two reasons is listed once', async () => {
    const { store, job } = await withJob(makeStore, hook);
    await store.commit(begin(job));

    expect(await store.dueForRepair(after(61), 10)).toEqual([job.run_id]);
  });

  test('the list has at most the requested number of jobs', async () => {
    const store = await makeStore();
    const jobs = Array.from({ length: 6 }, () => newJob(hook));
    for (const job of jobs) await store.create(createCreation(job), start);
    for (const job of jobs.slice(3)) await store.commit(begin(job));

    expect(await store.dueForRepair(after(61), 4)).toHaveLength(4);
  });
}

async function withJob(
  makeStore: () => Promise<JobRuns>,
  overrides: Partial<MonitorJob>,
): Promise<{ store: JobRuns; job: MonitorJob }> {
  const store = await makeStore();
  const job = newJob(overrides);
  await store.create(createCreation(job), start);
  return { store, job };
}
