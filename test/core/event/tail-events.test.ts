import { expect, test } from 'vitest';
import type { JobEvent } from '../../../core/records/event.ts';
import { pollingSignals } from '../../../core/ports/event-sessions.ts';
import { tailEvents, type TailDeps } from '../../../core/event/tail-events.ts';
import { after, newJob, start } from '../../contract/records.ts';

const job = newJob();

/** Event log that grows by one event per read, up to `length`; then its job has ended. */
function growingLog(length: number, missing: number[] = []) {
  let sequence = 0;
  const sleeps: number[] = [];
  const deps: TailDeps = {
    runs: {
      get: async () => {
        sequence = Math.min(sequence + 1, length);
        return { ...job, sequence, status: sequence === length ? 'stopped' : 'running' };
      },
      events: async (jobId, after, limit) =>
        Array.from({ length: sequence - after }, (_, index) => parseEvent(jobId, after + index + 1))
          .filter((event) => !missing.includes(event.sequence))
          .slice(0, limit),
    },
    now: () => start,
    signals: pollingSignals(async (milliseconds) => void sleeps.push(milliseconds), 250),
  };
  return { deps, sleeps };
}

function parseEvent(jobId: string, sequence: number): JobEvent {
  const data = { code: 'VLM_ERROR', message: '', remediation: '' };
  return { type: 'error', data, job_id: jobId, sequence, timestamp: start.toISOString() };
}

async function collectSequences(tail: AsyncIterable<JobEvent | null>): Promise<number[]> {
  const sequences = [];
  for await (const event of tail) if (event) sequences.push(event.sequence);
  return sequences;
}

test('a tail yields each event once and in order while the log grows, and ends with it', async () => {
  const { deps, sleeps } = growingLog(250);
  const tail = tailEvents(job.run_id, 0, deps, new AbortController().signal);
  expect(await collectSequences(tail)).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  expect(sleeps).toEqual([]);
});

test('a reader that fell behind receives the missed events in pages', async () => {
  const { deps } = growingLog(250);
  const tail = tailEvents(job.run_id, 0, deps, new AbortController().signal);
  await tail.next();
  for (let read = 0; read < 248; read += 1) await deps.runs.get(job.run_id, start);
  expect((await collectSequences(tail)).length).toBe(249);
});

test('a tail waits after each read without new events and yields null', async () => {
  const { deps, sleeps } = growingLog(3);
  const tail = tailEvents(job.run_id, 2, deps, new AbortController().signal);
  expect((await tail.next()).value).toBeNull();
  expect((await tail.next()).value).toBeNull();
  expect((await tail.next()).value).toMatchObject({ sequence: 3 });
  expect((await tail.next()).done).toBe(true);
  expect(sleeps).toEqual([250, 250]);
});

test('a tail ends if the job does not exist', async () => {
  const { deps } = growingLog(3);
  deps.runs.get = async () => undefined;
  expect((await tailEvents(job.run_id, 0, deps, new AbortController().signal).next()).done).toBe(true);
});

test('a tail waits between reads if events of a running job are missing, and ends with the job', async () => {
  const { deps, sleeps } = growingLog(3, [1, 2, 3]);
  expect(await collectSequences(tailEvents(job.run_id, 0, deps, new AbortController().signal))).toEqual([]);
  expect(sleeps).toEqual([250, 250]);
});

test('a tail stops at a hole until the event in it is visible, and crosses one that stays', async () => {
  let now = start;
  const visible = new Set([4, 6]);
  const deps: TailDeps = {
    runs: {
      get: async () => ({ ...job, sequence: 6, status: 'running' }),
      events: async (jobId, after) =>
        [...visible]
          .filter((each) => each > after)
          .toSorted((one, other) => one - other)
          .map((each) => parseEvent(jobId, each)),
    },
    now: () => now,
    signals: pollingSignals(async () => undefined, 250),
  };
  const tail = tailEvents(job.run_id, 3, deps, new AbortController().signal);
  const next = async () => (await tail.next()).value?.sequence;
  expect([await next(), await next()]).toEqual([4, undefined]);
  visible.add(5);
  expect([await next(), await next()]).toEqual([5, 6]);
  visible.add(16_000_000);
  expect(await next()).toBeUndefined();
  now = after(30);
  expect(await next()).toBeUndefined();
  deps.runs.get = async () => ({ ...job, sequence: 16_000_000, status: 'running' });
  expect(await next()).toBe(16_000_000);
});

test('a tail reads nothing after its signal aborts', async () => {
  const { deps } = growingLog(250);
  const reader = new AbortController();
  const tail = tailEvents(job.run_id, 0, deps, reader.signal);
  await tail.next();
  reader.abort();
  deps.runs.get = () => Promise.reject(new Error('read again'));
  expect((await tail.next()).done).toBe(true);
});

test('a tail watches the log before its first read and ends the watch when its reader leaves', async () => {
  const { deps } = growingLog(3);
  const calls: string[] = [];
  const { get } = deps.runs;
  deps.runs.get = async (...read) => {
    calls.push('read');
    return get(...read);
  };
  deps.signals = {
    watch: () => {
      calls.push('watch');
      return { changed: async () => undefined, end: () => void calls.push('end') };
    },
  };
  const tail = tailEvents(job.run_id, 0, deps, new AbortController().signal);
  await tail.next();
  await tail.return(undefined);
  expect(calls).toEqual(['watch', 'read', 'end']);
});
