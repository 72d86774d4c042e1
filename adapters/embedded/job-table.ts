import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { jobSchema, type Job } from '../../core/records/job.ts';
import type { JobQuery } from '../../core/ports/job-store.ts';
import { createRecordReader, readCount, readRecords, toMilliseconds, type Row } from './record.ts';

/** Active jobs of a busy machine, a few kB each. */
const maxParsed = 500;

/** Creates the table of jobs. Every write uses `toRow`, so that the columns match the record. */
export function createJobTable(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO jobs VALUES (:job_id, :caller, :policy, :status, :created_at, :sequence, :published,
      :lease_until, :has_webhook, :expires_at, :record)`);
  const update = database.prepare(`
    UPDATE jobs SET caller = :caller, policy = :policy, status = :status, created_at = :created_at,
      sequence = :sequence, published = :published, lease_until = :lease_until, has_webhook = :has_webhook,
      expires_at = :expires_at, record = :record
    WHERE job_id = :job_id`);
  const find = database.prepare('SELECT record FROM jobs WHERE job_id = ?');
  const remove = database.prepare('DELETE FROM jobs WHERE job_id = ?');
  const matching = `
    FROM jobs WHERE caller = :caller AND (expires_at IS NULL OR expires_at > :now)
      AND (:status IS NULL OR status = :status) AND (:policy IS NULL OR policy = :policy)
      AND (:label IS NULL OR EXISTS (SELECT 1 FROM json_each(record, '$.labels') WHERE value = :label))`;
  const count = database.prepare(`SELECT count(*) AS count ${matching}`);
  const page = database.prepare(`
    SELECT record ${matching} ORDER BY created_at DESC, job_id DESC LIMIT :limit OFFSET :offset`);
  const active = database.prepare(`
    SELECT record FROM jobs WHERE status IN ('pending', 'running') AND lease_until < ?`);
  const silent = database.prepare(`
    SELECT job_id FROM jobs WHERE status IN ('pending', 'running') AND lease_until < ?
    ORDER BY lease_until LIMIT ?`);
  // Webhooks do not receive `progress`, so a job whose newest events are only `progress` has nothing to publish. `reconcile` can
  // use a later time than now, so expired jobs are included and come last.
  const unpublished = database.prepare(`
    SELECT job_id FROM jobs
    WHERE has_webhook = 1 AND published < sequence
      AND EXISTS (SELECT 1 FROM events WHERE events.job_id = jobs.job_id
        AND events.sequence > jobs.published AND events.to_webhook = 1)
    ORDER BY expires_at DESC NULLS FIRST LIMIT ?`);
  const expired = database.prepare('SELECT record FROM jobs WHERE expires_at <= ?');

  const { read, remember } = createRecordReader(jobSchema, maxParsed);
  return {
    insert: (job: Job) => void insert.run(toRow(job)),
    update: (job: Job) => {
      const row = toRow(job);
      update.run(row);
      remember(job.run_id, row.record, job);
    },
    find: (jobId: string) => read(jobId, find.get(jobId)),
    remove: (jobId: string) => void remove.run(jobId),
    count: (query: JobQuery, now: Date) => readCount(count.get(toCondition(query, now))),
    page: (query: JobQuery, now: Date) =>
      readRecords(
        jobSchema,
        page.all({ ...toCondition(query, now), limit: query.limit, offset: query.offset }),
      ),
    /** Returns pending and running jobs whose lease ends before `until`. */
    activeWithLeaseBefore: (until: Date) => readRecords(jobSchema, active.all(until.getTime())),
    active: () => readRecords(jobSchema, active.all(Number.MAX_SAFE_INTEGER)),
    /** Returns ids of active jobs with an expired lease, oldest lease first. */
    silentSince: (now: Date, limit: number) => readIds(silent.all(now.getTime(), limit)),
    unpublished: (limit: number) => readIds(unpublished.all(limit)),
    expiredBy: (now: Date) => readRecords(jobSchema, expired.all(now.getTime())),
  };
}

function toRow(job: Job) {
  return {
    job_id: job.run_id,
    caller: job.caller,
    policy: job.policy,
    status: job.status,
    created_at: toMilliseconds(job.created_at),
    sequence: job.sequence,
    published: job.published,
    lease_until: toMilliseconds(job.lease_until),
    has_webhook: job.webhook_url === null ? 0 : 1,
    expires_at: job.expires_at === null ? null : toMilliseconds(job.expires_at),
    record: JSON.stringify(job),
  };
}

function toCondition(query: JobQuery, now: Date) {
  return {
    caller: query.caller,
    now: now.getTime(),
    status: query.status ?? null,
    policy: query.policy ?? null,
    label: query.label ?? null,
  };
}

function readIds(rows: Row[]): string[] {
  return idRowsSchema.parse(rows).map((row) => row.job_id);
}

const idRowsSchema = z.array(z.object({ job_id: z.string() }));
