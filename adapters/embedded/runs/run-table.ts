import type { DatabaseSync } from 'node:sqlite';
import { createByteCache } from '../../byte-cache.ts';
import { z } from 'zod';
import type { JobQuery } from '../../../core/ports/runs.ts';
import { goneAt, hasReceivers, isIdle, splitRun } from '../../../core/event/stored-run.ts';
import { runSchema, type PolicyName, type Run } from '../../../core/records/run.ts';
import {
  freeze,
  parseFields,
  readCount,
  readValue,
  toMilliseconds,
  type Row,
  maxParsedBytes,
  parsedFactor,
} from '../sqlite/record.ts';

/** Stored run, and the sequence up to which its events have receivers. */
type Found = { run: Run; unpublished: number };

/** Creates the table of runs. Every write uses `toColumns`, so that the columns match the record. */
export function createRunTable(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO runs VALUES (:run_id, :policy, :caller, :created_at, :status, :version, :published, :unpublished,
      :lease_until, :gone_at, :meta, :run)`);
  const update = database.prepare(`
    UPDATE runs SET status = :status, version = :version, unpublished = :unpublished, lease_until = :lease_until,
      gone_at = :gone_at, run = :run
    WHERE run_id = :run_id`);
  const configure = database.prepare('UPDATE runs SET meta = ? WHERE run_id = ?');
  const publish = database.prepare('UPDATE runs SET published = max(published, ?) WHERE run_id = ?');
  const columns = 'run_id, published, unpublished, meta, run';
  const find = database.prepare(`SELECT ${columns} FROM runs WHERE run_id = ?`);
  const matching = `
    FROM runs WHERE caller = :caller AND policy <> 'watch' AND (gone_at IS NULL OR gone_at > :now)
      AND (:status IS NULL OR status = :status) AND (:policy IS NULL OR policy = :policy)
      AND (:label IS NULL OR EXISTS (SELECT 1 FROM json_each(meta, '$.labels') WHERE value = :label))`;
  const countJobs = database.prepare(`SELECT count(*) AS count ${matching}`);
  const jobs = database.prepare(`
    SELECT ${columns} ${matching} ORDER BY created_at DESC, run_id DESC LIMIT :limit OFFSET :offset`);
  const ofWatches = "FROM runs WHERE caller = ? AND policy = 'watch' AND gone_at IS NULL";
  const watches = database.prepare(`SELECT ${columns} ${ofWatches} ORDER BY created_at, run_id`);
  const countWatches = database.prepare(`SELECT count(*) AS count ${ofWatches}`);
  const ofPolicies = 'policy IN (SELECT value FROM json_each(:policies))';
  const active = database.prepare(`
    SELECT ${columns} FROM runs WHERE lease_until IS NOT NULL AND ${ofPolicies}`);
  const late = database.prepare(`
    SELECT run_id FROM runs WHERE lease_until < :now ORDER BY lease_until LIMIT :limit`);
  // `reconcile` can use a later time than now, so expired jobs are included and come last.
  const unpublished = database.prepare(`
    SELECT run_id FROM runs WHERE unpublished > published
    ORDER BY gone_at DESC NULLS FIRST LIMIT :limit`);
  const gone = database.prepare(`
    SELECT ${columns} FROM runs WHERE gone_at <= :until AND ${ofPolicies} LIMIT :limit`);
  const renew = database.prepare(`
    UPDATE runs SET lease_until = :until, run = json_set(run, '$.lease_until', :timestamp)
    WHERE lease_until < :until AND policy <> 'watch'`);
  const reader = createRunReader();
  return {
    insert: (run: Run, unpublishedTo: number) => {
      const { meta, progress } = splitRun(run);
      insert.run({
        ...toColumns(run, unpublishedTo),
        policy: run.policy,
        caller: run.caller,
        created_at: toMilliseconds(run.created_at),
        published: run.published,
        meta: JSON.stringify(meta),
        run: JSON.stringify(progress),
      });
    },
    /** Writes what a commit has changed; the configuration only if it did. */
    update: (run: Run, unpublishedTo: number, isConfigured: boolean) => {
      const { meta, progress } = splitRun(run);
      const text = JSON.stringify(progress);
      update.run({ ...toColumns(run, unpublishedTo), run: text });
      if (isConfigured) configure.run(JSON.stringify(meta), run.run_id);
      else reader.remember(run, text);
    },
    find: (runId: string) => reader.read(find.get(runId)),
    markPublished: (runId: string, sequence: number) => void publish.run(sequence, runId),
    countJobs: (query: JobQuery, now: Date) => readCount(countJobs.get(toCondition(query, now))),
    jobs: (query: JobQuery, now: Date) =>
      reader.readAll(jobs.all({ ...toCondition(query, now), limit: query.limit, offset: query.offset })),
    countWatches: (caller: string) => readCount(countWatches.get(caller)),
    watches: (caller: string) => reader.readAll(watches.all(caller)),
    /** Returns the runs with a lease: active jobs, and watches that are neither paused nor deleted. */
    active: (policies: readonly PolicyName[]) =>
      reader.readAll(active.all({ policies: JSON.stringify(policies) })),
    /** Returns ids of runs with an expired lease, oldest lease first, then of those with events to publish. */
    due: (now: Date, limit: number) => {
      return [...readIds(late.all({ limit, now: now.getTime() })), ...readIds(unpublished.all({ limit }))];
    },
    /** Returns runs that reads omit since `until`. */
    goneBy: (until: Date, limit: number, policies: readonly PolicyName[]) =>
      reader.readAll(gone.all({ until: until.getTime(), policies: JSON.stringify(policies), limit })),
    /** Extends the leases of active jobs that end before `until`. Returns how many. */
    renewLeases: (until: Date) =>
      Number(renew.run({ until: until.getTime(), timestamp: until.toISOString() }).changes),
  };
}

function toColumns(run: Run, unpublished: number) {
  const end = goneAt(run);
  return {
    run_id: run.run_id,
    status: run.status,
    version: run.version,
    unpublished: hasReceivers(run) ? unpublished : 0,
    lease_until: isIdle(run) ? null : toMilliseconds(run.lease_until),
    gone_at: end === null ? null : toMilliseconds(end),
  };
}

/** Active runs of a busy machine, a few kB each. */
const maxParsed = 1000;

/**
 * Creates a reader that parses the same texts once: a tick reads its run several times, and the next one what it has
 * written. The runs are frozen.
 */
function createRunReader() {
  const kept = createByteCache<{ meta: string; text: string; run: Run }>({
    name: 'parsed runs',
    max: maxParsed,
    maxBytes: maxParsedBytes,
    bytesOf: ({ meta, text }) => parsedFactor * (meta.length + text.length),
  });
  return { read, readAll, remember };

  function read(row: Row | undefined): Found | undefined {
    if (row === undefined) return undefined;
    const { run_id: id, published, unpublished, meta, run: text } = rowSchema.parse(row);
    const cached = kept.get(id);
    if (cached?.meta === meta && cached.text === text && cached.run.published === published)
      return { run: cached.run, unpublished };
    const run = readValue(runSchema, { ...parseFields(meta), ...parseFields(text), published });
    freeze(run);
    kept.set(id, { meta, text, run });
    return { run, unpublished };
  }

  function readAll(rows: Row[]): Run[] {
    return rows.flatMap((row) => read(row)?.run ?? []);
  }

  /** Keeps a run that was written with this text, which is not parsed then. */
  function remember(run: Run, text: string): void {
    const cached = kept.get(run.run_id);
    if (cached === undefined) return;
    freeze(run);
    kept.set(run.run_id, { meta: cached.meta, text, run });
  }
}

const rowSchema = z.object({
  run_id: z.string(),
  published: z.int(),
  unpublished: z.int(),
  meta: z.string(),
  run: z.string(),
});

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
  return idsSchema.parse(rows).map(({ run_id: id }) => id);
}

const idsSchema = z.array(z.object({ run_id: z.string() }));
