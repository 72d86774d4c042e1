import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { shareLogReads } from '../../../../adapters/embedded/web/share-log-reads.ts';
import type { JobEvent } from '../../../../core/records/event.ts';
import { newJob, start } from '../../../contract/records.ts';

/** Log of one job that grows by hand, with the reads of its store. */
function growingLog() {
  const reads: string[] = [];
  let job = newJob();
  const log = shareLogReads(() => ({
    get: async (jobId) => {
      reads.push(`get ${jobId}`);
      if (jobId === 'broken') throw new Error('disk');
      return job;
    },
    events: async (jobId, after, limit) => {
      reads.push(`events ${jobId} ${after} ${limit}`);
      return Array.from({ length: job.sequence - after }, (_, index) => event(after + index + 1));
    },
  }));
  return { reads, log, grow: () => (job = { ...job, sequence: job.sequence + 1 }) };
}

function event(sequence: number): JobEvent {
  const data = { code: 'VLM_ERROR', message: '', remediation: '' } as const;
  return { type: 'error', data, job_id: 'a', sequence, timestamp: start.toISOString() };
}

test('all readers that a commit wakes read the job and its page once', async () => {
  const { reads, log, grow } = growingLog();
  grow();
  const read = async () => [await log.get('a', start), await log.events('a', 0, 100, new Date(0))] as const;
  const all = await Promise.all(Array.from({ length: 100 }, read));
  expect(reads).toEqual(['get a', 'events a 0 100']);
  for (const [job, events] of all) expect([job?.sequence, events.length]).toEqual([1, 1]);
});

test('readers of other logs, and those of another position or size of a page, read themselves', async () => {
  const { reads, log } = growingLog();
  await Promise.all([log.get('a', start), log.get('b', start)]);
  await Promise.all([
    log.events('a', 0, 100, new Date(0)),
    log.events('a', 0, 50, new Date(0)),
    log.events('b', 0, 50, new Date(0)),
  ]);
  expect(reads).toEqual(['get a', 'get b', 'events a 0 100', 'events a 0 50', 'events b 0 50']);
});

test('a reader that a second commit wakes in the same turn receives what it has committed', async () => {
  const { log, grow } = growingLog();
  expect((await log.get('a', start))?.sequence).toBe(0);
  expect(await log.events('a', 0, 100, new Date(0))).toHaveLength(0);
  grow();
  log.forget('a');
  expect((await log.get('a', start))?.sequence).toBe(1);
  expect(await log.events('a', 0, 100, new Date(0))).toHaveLength(1);
});

test('a reader of a later turn reads again, also after a failure', async () => {
  const { reads, log } = growingLog();
  await expect(log.get('broken', start)).rejects.toThrow('disk');
  await log.get('a', start);
  await nextTurn();
  await expect(log.get('broken', start)).rejects.toThrow('disk');
  await log.get('a', start);
  expect(reads).toEqual(['get broken', 'get a', 'get broken', 'get a']);
});
