import type { JobRuns } from '../support/select-runs.ts';
import { describe, expect, test } from 'vitest';
import { noUsage, noTotals } from '../../core/ports/runs.ts';
import { zeroCounters, type Job } from '../../core/records/job.ts';
import { jobCreationCases } from './job-creation.contract.ts';
import { jobReadingCases } from './job-reading.contract.ts';
import {
  begin,
  changed,
  createChange,
  createCreation,
  end,
  newJob,
  progress,
  start,
  stopped,
  triggered,
} from './records.ts';

/** Contract of `JobStore`: what jobs have beside their runs. `makeStore` returns an empty store. */
export function describeJobStore(name: string, makeStore: () => Promise<JobRuns>): void {
  describe(`${name} as a job store`, () => {
    describe('creating', () => jobCreationCases(makeStore));
    describe('slots and totals', () => slotCases(makeStore));
    describe('reading', () => jobReadingCases(makeStore));
  });
}

function slotCases(makeStore: () => Promise<JobRuns>): void {
  test('the end releases the slot once, for one other job', async () => {
    const store = await makeStore();
    const first = newJob();
    await store.create(createCreation(first, { slotLimit: 2 }), start);
    await store.create(createCreation(newJob(), { slotLimit: 2 }), start);

    await store.commit(end(first));
    await store.commit(end(first));

    expect(await store.countActive('harbour')).toBe(1);
    expect(await store.create(createCreation(newJob(), { slotLimit: 2 }), start)).toEqual({
      kind: 'created',
    });
    expect(await store.create(createCreation(newJob(), { slotLimit: 2 }), start)).toEqual({
      kind: 'full',
    });
  });

  test('a tick that ends its job is one change without a following tick', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const last = createChange(job, [progress, triggered, stopped], {
      set: { status: 'completed', reason: 'condition_triggered' },
      releasesSlotOf: job.caller,
    });
    expect(await store.countActive(job.caller)).toBe(1);
    expect(await store.commit(last)).toBe('committed');

    expect(await store.commit(end(job))).toBe('outdated');
    expect(await store.commit(createChange(job, [progress]))).toBe('outdated');

    expect((await store.events(job.run_id, 0, 10, new Date(0))).at(-1)?.type).toBe('job_stopped');
    expect(await store.countActive(job.caller)).toBe(0);
  });

  test('usage sums the totals of ended jobs', async () => {
    const store = await makeStore();
    expect(await store.usage()).toEqual(noUsage);
    const jobs = [newJob(), newJob(), newJob({ caller: 'airport' })];
    for (const job of jobs) await store.create(createCreation(job), start);
    const failure = { ...noTotals, jobs_failed: 1, failed_captures: 7, input_tokens: 20 };

    await Promise.all([
      store.commit(end(jobs[0]!)),
      store.commit(end(jobs[1]!)),
      store.commit({ ...end(jobs[2]!), totalsDelta: failure }),
    ]);

    expect(await store.usage()).toEqual({
      ...noUsage,
      jobs_created: 3,
      jobs_stopped: 2,
      jobs_failed: 1,
      checks_performed: 6,
      failed_captures: 7,
      input_tokens: 1_020,
    });
  });

  test('usage has the current counters of active jobs, and each job once after its end', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const other = newJob({ caller: 'airport', counters: { ...zeroCounters, frames_captured: 2 } });
    await store.create(createCreation(other), start);
    const counters = { ...zeroCounters, frames_captured: 5, frames_skipped: 4 };
    await store.commit(createChange(job, [progress], { set: { counters } }));
    const live = { ...noUsage, jobs_created: 2, frames_captured: 7, frames_skipped: 4 };

    expect(await store.usage()).toEqual(live);

    const ended = changed(job, createChange(job, [progress], { set: { counters } }));
    await store.commit({ ...end(ended), totalsDelta: { ...noTotals, ...counters, jobs_stopped: 1 } });

    expect(await store.usage()).toEqual({ ...live, jobs_stopped: 1 });
  });

  test('usage has each job once while jobs end', async () => {
    const store = await makeStore();
    const counters = { ...zeroCounters, frames_captured: 1 };
    const jobs = Array.from({ length: 12 }, (_, index) => newJob({ caller: `caller-${index}`, counters }));
    for (const job of jobs) await store.create(createCreation(job), start);
    const counted = { ...noTotals, ...counters, jobs_stopped: 1 };

    const ends = Promise.all(jobs.map((job) => store.commit({ ...end(job), totalsDelta: counted })));
    const readings = [];
    for (let count = 0; count < 4; count += 1) readings.push(await store.usage());
    await ends;
    readings.push(await store.usage());

    for (const reading of readings) expect(reading).toMatchObject({ jobs_created: 12, frames_captured: 12 });
    expect(readings.at(-1)?.jobs_stopped).toBe(12);
  });
}

async function withRunningJob(makeStore: () => Promise<JobRuns>): Promise<{ store: JobRuns; job: Job }> {
  const store = await makeStore();
  const job = newJob();
  await store.create(createCreation(job), start);
  await store.commit(begin(job));
  return { store, job: changed(job, begin(job)) };
}
