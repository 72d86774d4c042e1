import type { JobRuns } from '../support/select-runs.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Job } from '../../core/records/job.ts';
import type { JobQuery } from '../../core/ports/runs.ts';
import { jobs as anyJob, progressEvents as anyProgress } from './arbitraries.ts';
import {
  after,
  begin,
  changed,
  createChange,
  createCreation,
  end,
  newDigest,
  newJob,
  progress,
  start,
  triggered,
} from './records.ts';

/** Contract of `JobStore`, reads, their order, and expiry. */
export function jobReadingCases(makeStore: () => Promise<JobRuns>): void {
  test('a job, its source and its events with any content are returned unchanged', async () => {
    const store = await makeStore();
    await fc.assert(
      fc.asyncProperty(anyJob, anyProgress, async (job, event) => {
        const creation = createCreation(job, { slotLimit: 1_000_000 });
        const change = createChange(job, [event]);
        await store.create({ ...creation, source: { ...creation.source, url: job.stream_url } }, start);
        await store.commit(change);

        expect(await store.get(job.run_id, start)).toEqual(changed(job, change));
        expect((await store.source(job.source_id))?.url).toBe(job.stream_url);
        expect(await store.event(job.run_id, job.sequence + 1)).toEqual(change.events[0]);
      }),
      { numRuns: 15 },
    );
  });

  test('jobs are listed by label, with their total', async () => {
    const store = await makeStore();
    const labelled = [
      newJob({ labels: ['lock', 'day'] }),
      newDigest({ labels: ['lock'] }),
      newJob({ labels: ['day'] }),
      newJob(),
    ];
    for (const job of labelled) await store.create(createCreation(job), start);
    const list = (label: string, page = {}) =>
      store.list({ caller: 'harbour', label, limit: 10, offset: 0, ...page }, start);

    expect((await list('lock')).jobs.map(({ run_id: id }) => id).toSorted()).toEqual(
      labelled
        .slice(0, 2)
        .map(({ run_id: id }) => id)
        .toSorted(),
    );
    expect(await list('day', { policy: 'monitor', limit: 1, offset: 1 })).toMatchObject({
      total: 2,
      jobs: [{}],
    });
    expect(await list('night')).toEqual({ jobs: [], total: 0 });
  });

  test('the newest events of a type are returned oldest first', async () => {
    const store = await makeStore();
    let job = newJob();
    await store.create(createCreation(job), start);
    for (const event of [triggered, progress, triggered, progress, triggered, progress]) {
      const change = createChange(job, [event]);
      await store.commit(change);
      job = changed(job, change);
    }

    const newest = await store.newestEvents(job.run_id, 'watch_triggered', 2);

    expect(newest.map((event) => event.sequence)).toEqual([3, 5]);
    const newestProgress = await store.newestEvents(job.run_id, 'progress', 2);
    expect(newestProgress.map((event) => event.sequence)).toEqual([4, 6]);
    expect(await store.newestEvents(job.run_id, 'error', 2)).toEqual([]);
  });

  test('an expired job is absent from reads and lists from that moment on, and not before', async () => {
    const store = await makeStore();
    const job = newJob();
    await store.create(createCreation(job), start);
    await store.commit(end(job, start));
    const query = { caller: job.caller, limit: 10, offset: 0 };

    expect((await store.get(job.run_id, after(3_599)))?.status).toBe('stopped');
    expect((await store.list(query, after(3_599))).total).toBe(1);
    expect(await store.get(job.run_id, after(3_600))).toBeUndefined();
    expect(await store.list(query, after(3_600))).toEqual({ jobs: [], total: 0 });
    // Its last events may be in delivery.
    expect(await store.events(job.run_id, 0, 10, new Date(0))).toHaveLength(1);
  });

  test('jobs are listed newest first, filtered and paged, with the total of all matches', async () => {
    const { store, jobs } = await withManyJobs(makeStore);
    const list = async (query: Partial<JobQuery>) => {
      const { jobs: page, total } = await store.list(
        { caller: 'harbour', limit: 100, offset: 0, ...query },
        start,
      );
      return {
        names: page.map((job) => jobs.findIndex(({ run_id: job_id }) => job_id === job.run_id)),
        total,
      };
    };

    expect(await list({})).toEqual({ names: [5, 4, 3, 2, 1, 0], total: 6 });
    expect(await list({ limit: 2 })).toEqual({ names: [5, 4], total: 6 });
    expect(await list({ limit: 2, offset: 3 })).toEqual({ names: [2, 1], total: 6 });
    expect(await list({ offset: 6 })).toEqual({ names: [], total: 6 });
    expect(await list({ status: 'running' })).toEqual({ names: [4, 2, 0], total: 3 });
    expect(await list({ policy: 'digest' })).toEqual({ names: [5, 4, 3], total: 3 });
    expect(await list({ policy: 'digest', status: 'pending', limit: 1 })).toEqual({
      names: [5],
      total: 2,
    });
    expect(await list({ status: 'failed' })).toEqual({ names: [], total: 0 });
    expect(await list({ caller: 'nobody' })).toEqual({ names: [], total: 0 });
  });

  test('jobs of the same time keep their order from page to page', async () => {
    const store = await makeStore();
    for (let count = 0; count < 9; count += 1) await store.create(createCreation(newJob()), start);
    const page = async (limit: number, offset: number) =>
      (await store.list({ caller: 'harbour', limit, offset }, start)).jobs.map((job) => job.run_id);

    const pages = [...(await page(4, 0)), ...(await page(4, 4)), ...(await page(4, 8))];

    expect(pages).toEqual(await page(9, 0));
    expect(new Set(pages).size).toBe(9);
  });
}

/**
 * Creates six jobs a minute apart, of which every second one runs and the last three are digests, and one of another
 * caller.
 */
async function withManyJobs(makeStore: () => Promise<JobRuns>): Promise<{ store: JobRuns; jobs: Job[] }> {
  const store = await makeStore();
  const jobs = Array.from({ length: 6 }, (_, index) =>
    (index < 3 ? newJob : newDigest)({ created_at: after(index * 60).toISOString() }),
  );
  for (const job of [...jobs, newJob({ caller: 'airport' })]) await store.create(createCreation(job), start);
  for (const job of jobs.filter((_, index) => index % 2 === 0)) await store.commit(begin(job));
  return { store, jobs };
}
