import type { JobRuns } from '../support/select-runs.ts';
import { expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import { zeroCounters, type Job } from '../../core/records/job.ts';
import type { JobChange } from '../../core/ports/job-store.ts';
import { withLostReplies } from './lost-replies.ts';
import {
  after,
  begin,
  changed,
  createChange,
  createCreation,
  end,
  newJob,
  nothingTotalled,
  nothingUsed,
  progress,
  start,
  startedEvent,
  stopped,
  triggered,
} from './records.ts';

/** Contract of `JobStore`, part 2: changes, their conditions, slots and totals. */
export function jobCommitCases(makeStore: () => Promise<JobRuns>): void {
  test('a change updates the job and adds its events', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const tick = createChange(job, [progress, triggered], {
      set: { last_tick: 1, counters: { ...zeroCounters, checks_performed: 1 } },
    });

    expect(await store.commit(tick)).toBe('committed');

    expect(await store.get(job.run_id, start)).toEqual(changed(job, tick));
    expect(await store.events(job.run_id, 1, 10, new Date(0))).toEqual(tick.events);
  });

  test.each<[string, (job: Job) => Partial<JobChange>]>([
    ['on an older version', (job) => ({ expectedVersion: job.version - 1 })],
    ['on a newer version', (job) => ({ expectedVersion: job.version + 1 })],
    ['of a job that is not there', () => ({ runId: newJob().run_id })],
  ])('a change %s is outdated and changes nothing', async (_, wrong) => {
    const { store, job } = await withRunningJob(makeStore);
    const change = { ...end(job), ...wrong(job) };

    expect(await store.commit(change)).toBe('outdated');

    expect(await store.get(job.run_id, start)).toEqual(job);
    expect(await store.get(change.runId, start)).toEqual(change.runId === job.run_id ? job : undefined);
    expect(await store.events(change.runId, job.sequence, 10, new Date(0))).toEqual([]);
    expect(await store.countActive(job.caller)).toBe(1);
    expect(await store.usage()).toEqual({ ...nothingUsed, jobs_created: 1 });
  });

  test('a change whose reply was lost took effect once and is outdated when repeated', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const losing = withLostReplies(store);
    const change = end(job);

    await expect(losing.commit(change)).rejects.toThrow(TransientError);
    expect(await losing.commit(change)).toBe('outdated');

    expect(await store.get(job.run_id, start)).toEqual(changed(job, change));
    expect(await store.events(job.run_id, job.sequence, 10, new Date(0))).toEqual(change.events);
    expect(await store.usage()).toMatchObject({ jobs_created: 1, jobs_stopped: 1, checks_performed: 3 });
  });

  test('one of two concurrent changes of the same state wins, and the other changes nothing', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const tick = createChange(job, [progress], { set: { last_tick: 1 } });
    const cancel = end(job);

    const results = await Promise.all([store.commit(tick), store.commit(cancel)]);

    expect(results.toSorted()).toEqual(['committed', 'outdated']);
    const winner = results[0] === 'committed' ? tick : cancel;
    expect(await store.get(job.run_id, start)).toEqual(changed(job, winner));
    expect(await store.events(job.run_id, job.sequence, 10, new Date(0))).toEqual(winner.events);
    expect(await store.countActive(job.caller)).toBe(winner === tick ? 1 : 0);
  });

  test('many concurrent changes of the same state leave one event', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const changes = Array.from({ length: 8 }, () => store.commit(createChange(job, [progress])));

    const results = await Promise.all(changes);

    expect(results.filter((result) => result === 'committed')).toHaveLength(1);
    expect(await store.events(job.run_id, job.sequence, 10, new Date(0))).toHaveLength(1);
  });

  test('late, misordered or repeated changes are outdated, and the log has each event once', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const first = createChange(job, [progress], { set: { last_tick: 1 } });
    const second = createChange(changed(job, first), [triggered], { set: { last_tick: 2 } });
    const last = end(changed(changed(job, first), second));

    const results = [];
    for (const change of [second, last, first, first, last, second, first, second, last, last, first]) {
      results.push(await store.commit(change));
    }

    const committed = results.flatMap((result, index) => (result === 'committed' ? [index] : []));
    expect(committed).toEqual([2, 5, 8]);
    const events = await store.events(job.run_id, 0, 10, new Date(0));
    expect(events.map(({ type }) => type)).toEqual([
      'job_started',
      'progress',
      'watch_triggered',
      'job_stopped',
    ]);
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(await store.usage()).toMatchObject({ jobs_created: 1, jobs_stopped: 1 });
  });

  test('eight concurrent ends end a job once', async () => {
    const { store, job } = await withRunningJob(makeStore);

    const results = await Promise.all(Array.from({ length: 8 }, () => store.commit(end(job))));

    expect(results.filter((result) => result === 'committed')).toHaveLength(1);
    expect(await store.usage()).toMatchObject({ jobs_created: 1, jobs_stopped: 1, checks_performed: 3 });
    expect(await store.countActive(job.caller)).toBe(0);
  });

  test('one of several concurrent changes without events wins', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const sets = [{ generation: 1 }, { last_tick: 7 }, { lease_until: after(900).toISOString() }];

    const results = await Promise.all(sets.map((set) => store.commit(createChange(job, [], { set }))));

    const committed = sets.filter((_, index) => results[index] === 'committed');
    expect(committed).toHaveLength(1);
    expect(await store.get(job.run_id, start)).toEqual({ ...job, ...committed[0], version: job.version + 1 });
  });

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
      kind: 'slots_full',
    });
  });

  test('a tick that ends its job is one change without a following tick', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const last = createChange(job, [progress, triggered, stopped], {
      set: { status: 'completed', reason: 'condition_triggered' },
      releasesSlotOf: job.caller,
    });
    expect(await store.commit(last)).toBe('committed');

    expect(await store.commit(end(job))).toBe('outdated');
    expect(await store.commit(createChange(job, [progress]))).toBe('outdated');

    expect((await store.events(job.run_id, 0, 10, new Date(0))).at(-1)?.type).toBe('job_stopped');
    expect(await store.countActive(job.caller)).toBe(0);
  });

  test('a change keeps fields that it does not set, and the published sequence', async () => {
    const { store, job } = await withRunningJob(makeStore);
    await store.markPublished(job.run_id, 1);
    const tick = createChange(job, [progress], { set: { last_tick: 1 } });

    await store.commit(tick);

    expect(await store.get(job.run_id, start)).toEqual({ ...changed(job, tick), published: 1 });
  });

  test('a field can be set to null', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const next = {
      done: false,
      wait_until: start.toISOString(),
      judged: true,
      closing: false,
      confirming: false,
      resolve_again: false,
    };
    const first = createChange(job, [progress], { set: { next } });
    await store.commit(first);
    const second = createChange(changed(job, first), [progress], { set: { next: null } });

    await store.commit(second);

    expect((await store.get(job.run_id, start))?.next).toBeNull();
  });

  test('the capture state of a hand-over is read as committed until a change removes it', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const seen = {
      position: { segment: '100:0123456789ab', segment_seconds: 2 },
      since: start.toISOString(),
      identical_since: null,
      seen_at: after(4).toISOString(),
    };
    const handsOver = { generation: 1, seen, handed_over: `3.${'r'.repeat(12_000)}` };
    const last = createChange(job, [progress], { set: handsOver });
    await store.commit(last);
    expect(await store.get(job.run_id, start)).toEqual(changed(job, last));

    const first = createChange(changed(job, last), [progress], { set: { handed_over: null } });
    await store.commit(first);

    expect((await store.get(job.run_id, start))?.handed_over).toBeNull();
  });

  test('usage sums the totals of ended jobs', async () => {
    const store = await makeStore();
    expect(await store.usage()).toEqual(nothingUsed);
    const jobs = [newJob(), newJob(), newJob({ caller: 'airport' })];
    for (const job of jobs) await store.create(createCreation(job), start);
    const failure = { ...nothingTotalled, jobs_failed: 1, failed_captures: 7, input_tokens: 20 };

    await Promise.all([
      store.commit(end(jobs[0]!)),
      store.commit(end(jobs[1]!)),
      store.commit({ ...end(jobs[2]!), totalsDelta: failure }),
    ]);

    expect(await store.usage()).toEqual({
      ...nothingUsed,
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
    const live = { ...nothingUsed, jobs_created: 2, frames_captured: 7, frames_skipped: 4 };

    expect(await store.usage()).toEqual(live);

    const ended = changed(job, createChange(job, [progress], { set: { counters } }));
    await store.commit({ ...end(ended), totalsDelta: { ...nothingTotalled, ...counters, jobs_stopped: 1 } });

    expect(await store.usage()).toEqual({ ...live, jobs_stopped: 1 });
  });

  test('usage has each job once while jobs end', async () => {
    const store = await makeStore();
    const counters = { ...zeroCounters, frames_captured: 1 };
    const jobs = Array.from({ length: 12 }, (_, index) => newJob({ caller: `caller-${index}`, counters }));
    for (const job of jobs) await store.create(createCreation(job), start);
    const counted = { ...nothingTotalled, ...counters, jobs_stopped: 1 };

    const ends = Promise.all(jobs.map((job) => store.commit({ ...end(job), totalsDelta: counted })));
    const readings = [];
    for (let count = 0; count < 8; count += 1) readings.push(await store.usage());
    await ends;
    readings.push(await store.usage());

    for (const reading of readings) expect(reading).toMatchObject({ jobs_created: 12, frames_captured: 12 });
    expect(readings.at(-1)?.jobs_stopped).toBe(12);
  });

  test('an event belongs to one job only', async () => {
    const { store, job } = await withRunningJob(makeStore);
    const other = newJob();
    await store.create(createCreation(other), start);
    await store.commit(createChange(other, [startedEvent(other), progress], { set: { status: 'running' } }));

    expect(await store.events(job.run_id, 0, 10, new Date(0))).toHaveLength(1);
    expect(await store.events(other.run_id, 0, 10, new Date(0))).toHaveLength(2);
  });
}

async function withRunningJob(makeStore: () => Promise<JobRuns>): Promise<{ store: JobRuns; job: Job }> {
  const store = await makeStore();
  const job = newJob();
  await store.create(createCreation(job), start);
  await store.commit(begin(job));
  return { store, job: changed(job, begin(job)) };
}
