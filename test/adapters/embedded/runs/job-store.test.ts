import { embeddedRuns } from '../../../support/select-runs.ts';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { initialDelivery } from '../../../../core/records/delivery.ts';
import { createDeliveryStore } from '../../../../adapters/embedded/queue/delivery-store.ts';
import { rules } from '../../../../core/rules.ts';
import { describeJobStore } from '../../../contract/job-store.contract.ts';
import {
  after,
  begin,
  changed,
  createChange,
  createCreation,
  end,
  idempotency,
  newJob,
  progress,
  createSource,
  start,
  webhookKey,
} from '../../../contract/records.ts';

describeJobStore('The embedded store', async () => embeddedRuns(openDatabase(':memory:')).jobs);

test('a start extends the leases of active jobs that end sooner', async () => {
  const store = embeddedRuns(openDatabase(':memory:')).jobs;
  const [pending, running, patient, ended] = [
    newJob(),
    newJob(),
    newJob({ lease_until: after(900).toISOString() }),
    newJob(),
  ] as const;
  for (const job of [pending, running, patient, ended]) await store.create(createCreation(job), start);
  await store.commit(begin(running));
  await store.commit(end(ended));
  expect(await store.dueForRepair(after(300), 10)).toHaveLength(2);

  expect(store.renewLeases(after(600))).toBe(2);

  expect(await store.dueForRepair(after(600), 10)).toEqual([]);
  const renewed = { ...changed(running, begin(running)), lease_until: after(600).toISOString() };
  expect(await store.get(running.run_id, start)).toEqual(renewed);
  expect((await store.get(patient.run_id, start))?.lease_until).toBe(patient.lease_until);
  expect((await store.get(ended.run_id, start))?.lease_until).toBe(ended.lease_until);
});

test('a commit of events reports the log that has grown, and a rejected commit reports none', async () => {
  const grown: string[] = [];
  const store = embeddedRuns(openDatabase(':memory:'), (jobId) => void grown.push(jobId)).jobs;
  const job = newJob();
  await store.create(createCreation(job), start);
  expect(await store.commit(createChange(job, [progress]))).toBe('committed');
  expect(await store.commit(createChange(job, [progress]))).toBe('outdated');
  expect(grown).toEqual([job.run_id]);
});

test('a sweep removes a job with its records an hour after it expired and returns its id', async () => {
  const database = openDatabase(':memory:');
  const store = embeddedRuns(database).jobs;
  const deliveries = createDeliveryStore(database);
  const [ended, active] = [newJob(), newJob()] as const;
  for (const job of [ended, active]) {
    await store.create(createCreation(job, { idempotency: idempotency(job.run_id, 'hash') }), start);
    await store.commit(createChange(job, [progress]));
    await deliveries.put(initialDelivery(webhookKey(job.run_id, 1), 'job_started'), start);
  }
  await store.commit(end(changed(ended, createChange(ended, [progress]))));

  expect(await store.sweep(after(7_199))).toEqual({ jobs: [], idempotencyRecords: 0 });
  expect(await store.events(ended.run_id, 0, 10, new Date(0))).toHaveLength(2);

  const swept = await store.sweep(after(7_200));

  expect(swept.jobs).toEqual([{ jobId: ended.run_id, sourceId: ended.source_id }]);
  expect(await store.events(ended.run_id, 0, 10, new Date(0))).toEqual([]);
  expect(await store.source(ended.source_id)).toBeUndefined();
  expect(await deliveries.list({ run: 'job', run_id: ended.run_id }, 0, 10)).toEqual([]);
  expect(await store.get(active.run_id, start)).toMatchObject({ status: 'pending' });
  expect(await store.events(active.run_id, 0, 10, new Date(0))).toHaveLength(1);
  expect(await store.source(active.source_id)).toEqual(createSource(active));
  expect(await deliveries.list({ run: 'job', run_id: active.run_id }, 0, 10)).toHaveLength(1);
  expect(await store.countActive('harbour')).toBe(1);
});

test('a sweep keeps the source of an active job, however long the job runs', async () => {
  const store = embeddedRuns(openDatabase(':memory:')).jobs;
  const job = newJob();
  await store.create(createCreation(job), start);
  await store.commit(begin(job));

  await store.sweep(after(10 * rules.maxJobDurationSeconds));

  expect(await store.source(job.source_id)).toEqual(createSource(job));
});

test('a sweep removes expired idempotency records and keeps the totals', async () => {
  const store = embeddedRuns(openDatabase(':memory:')).jobs;
  const job = newJob();
  await store.create(createCreation(job, { idempotency: idempotency('key', 'hash') }), start);
  await store.commit(end(job));

  expect((await store.sweep(after(86_399))).idempotencyRecords).toBe(0);
  expect((await store.sweep(after(86_400))).idempotencyRecords).toBe(1);

  expect((await store.usage()).jobs_stopped).toBe(1);
});
