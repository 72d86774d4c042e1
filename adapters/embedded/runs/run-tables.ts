import type { DatabaseSync } from 'node:sqlite';
import { createKeyCheck } from '../callers/key-store.ts';
import { createMomentTable } from './moment-table.ts';
import { createRunTable } from './run-table.ts';
import { z } from 'zod';
import {
  type AlertQuery,
  type IdempotencyRecord,
  noTotals,
  totalsSchema,
  type Totals,
} from '../../../core/ports/runs.ts';
import { watchSecretsSchema, type WatchSecrets } from '../../../core/records/watch.ts';
import { alertSchema, type Alert } from '../../../core/records/watch-state.ts';
import { zeroWatchCounts, type sumByHour } from '../../../core/watch/stored-watch.ts';
import { seenHourSchema } from '../../../core/records/sight.ts';
import { extendHour } from '../../../core/sight/spans.ts';
import { createRemovalInSteps } from '../sqlite/vacuum.ts';
import {
  readOptionalRecord,
  readRecords,
  toMilliseconds,
  type Row,
  createRecordReader,
  readCount,
} from '../sqlite/record.ts';
import { jobEventSchema, type EventType, type JobEvent } from '../../../core/records/event.ts';
import { watchEventSchema } from '../../../core/records/watch-event.ts';
import { isJobEvent, type RunEvent } from '../../../core/records/run.ts';
import { sourceSchema, type Source } from '../../../core/records/job.ts';

const ofRun = 'FROM runs WHERE run_id = :run';

/** Statements that remove a run with everything that belongs to it; the run is last, because others read it. */
const statements = [
  'DELETE FROM events WHERE run_id = :run',
  'DELETE FROM deliveries WHERE run_id = :run',
  'DELETE FROM destination_states WHERE run_id = :run',
  "DELETE FROM delivery_messages WHERE message_group BETWEEN :run || ':' AND :run || ':~'",
  "DELETE FROM delivery_deduplication WHERE deduplication_id BETWEEN :run || ':' AND :run || ':~'",
  'DELETE FROM motion_references WHERE run_id = :run',
  'DELETE FROM alerts WHERE watch_id = :run',
  'DELETE FROM moment_words WHERE rowid IN (SELECT moment FROM moments WHERE watch_id = :run)',
  'DELETE FROM moments WHERE watch_id = :run',
  'DELETE FROM watch_hours WHERE watch_id = :run',
  'DELETE FROM watch_reviews WHERE watch_id = :run',
  'DELETE FROM watch_secrets WHERE watch_id = :run',
  `DELETE FROM slots WHERE caller = (SELECT caller ${ofRun}) AND job_id = :run`,
  `DELETE FROM sources WHERE source_id = (SELECT meta ->> '$.source_id' ${ofRun})`,
  `DELETE ${ofRun}`,
];

/** Creates a function that removes a run inside the transaction of the caller. */
export function createRunRemoval(database: DatabaseSync): (runId: string) => void {
  const prepared = statements.map((statement) => database.prepare(statement));
  return (runId) => prepared.forEach((statement) => statement.run({ run: runId }));
}

export type RunTables = ReturnType<typeof createRunTables>;

/** Creates the tables that one transaction can change with a run. */
export function createRunTables(database: DatabaseSync) {
  return {
    runs: createRunTable(database),
    events: createEventTable(database),
    sources: createSourceTable(database),
    slots: createSlotTable(database),
    totals: createTotalsTable(database),
    secrets: createSecretsTable(database),
    alerts: createAlertTable(database),
    hours: createHourTable(database),
    moments: createMomentTable(database),
    reviews: createReviewTable(database),
    idempotency: createIdempotencyTable(database),
    hasKey: createKeyCheck(database),
    /** Removes a run with everything that belongs to it. */
    removeRun: createRunRemoval(database),
  };
}

function createSecretsTable(database: DatabaseSync) {
  const put = database.prepare('INSERT OR REPLACE INTO watch_secrets VALUES (?, ?)');
  const find = database.prepare('SELECT record FROM watch_secrets WHERE watch_id = ?');
  return {
    put: (secrets: WatchSecrets) => void put.run(secrets.watch_id, JSON.stringify(secrets)),
    find: (watchId: string) => readOptionalRecord(watchSecretsSchema, find.get(watchId)),
  };
}

function createAlertTable(database: DatabaseSync) {
  const put = database.prepare(`
    INSERT OR REPLACE INTO alerts VALUES (:alert_id, :watch_id, :caller, :condition_id, :opened_at, :closed_at, :expires_at, :record)`);
  const kept = '(expires_at IS NULL OR expires_at > :now)';
  const find = database.prepare(`SELECT record FROM alerts WHERE alert_id = :alert_id AND ${kept}`);
  const matching = `${kept} AND opened_at < :to AND closed_at >= :from
    AND (opened_at < :after_time OR (opened_at = :after_time AND alert_id < :after_id))
    AND (:is_open IS NULL OR (closed_at = 'open') = :is_open)
    AND (:condition_id IS NULL OR condition_id = :condition_id) ORDER BY opened_at DESC, alert_id DESC LIMIT :limit`;
  const byCaller = database.prepare(`SELECT record FROM alerts WHERE caller = :caller AND ${matching}`);
  const byWatch = database.prepare(`
    SELECT record FROM alerts WHERE watch_id = :watch_id AND caller = :caller AND ${matching}`);
  const removeExpired = createRemovalInSteps(database, {
    table: 'alerts',
    key: 'alert_id',
    where: 'expires_at <= ?',
  });
  return {
    put: (alert: Alert) => void put.run(toAlertRow(alert)),
    find: (alertId: string, now: Date) =>
      readOptionalRecord(alertSchema, find.get({ alert_id: alertId, now: now.getTime() })),
    page: (query: AlertQuery, now: Date) => {
      const condition = toCondition(query, now);
      return readRecords(
        alertSchema,
        query.watchId === undefined
          ? byCaller.all(condition)
          : byWatch.all({ ...condition, watch_id: query.watchId }),
      );
    },
    removeExpired: async (now: Date) => removeExpired(now.getTime()),
  };
}

function toAlertRow(alert: Alert) {
  return {
    alert_id: alert.alert_id,
    watch_id: alert.watch_id,
    caller: alert.caller,
    condition_id: alert.condition_id,
    opened_at: alert.opened_at,
    closed_at: alert.closed?.at ?? 'open',
    expires_at: alert.expires_at === null ? null : toMilliseconds(alert.expires_at),
    record: JSON.stringify(alert),
  };
}

/** `~` sorts after all timestamps. */
function toCondition({ caller, conditionId, state, from, to, after, limit }: AlertQuery, now: Date) {
  return {
    caller,
    now: now.getTime(),
    condition_id: conditionId ?? null,
    from: from?.toISOString() ?? '',
    to: to?.toISOString() ?? '~',
    after_time: after?.opened_at ?? '~',
    after_id: after?.alert_id ?? '',
    is_open: state === undefined ? null : Number(state === 'open'),
    limit,
  };
}

function createHourTable(database: DatabaseSync) {
  const find = database.prepare('SELECT record FROM watch_hours WHERE watch_id = ? AND hour = ?');
  const put = database.prepare('INSERT OR REPLACE INTO watch_hours VALUES (?, ?, ?)');
  const list = database.prepare(`
    SELECT hour, record FROM watch_hours WHERE watch_id = ? AND hour >= ? AND hour < ? ORDER BY hour`);
  const removeBefore = createRemovalInSteps(database, {
    table: 'watch_hours',
    key: 'watch_id, hour',
    where: 'hour < ?',
  });
  return {
    add: (watchId: string, { hour, counts, seen: added }: ReturnType<typeof sumByHour>[number]) => {
      const { seen, ...before } = readOptionalRecord(countsSchema, find.get(watchId, hour)) ?? {};
      const sums = counts.map(([name, value]) => [name, (before[name] ?? 0) + value]);
      const after = added ? extendHour(new Date(hour), seen, added) : seen;
      put.run(watchId, hour, JSON.stringify({ ...before, ...Object.fromEntries(sums), seen: after }));
    },
    list: (watchId: string, from: Date, to: Date) =>
      list.all(watchId, from.toISOString(), to.toISOString()).map((row) => {
        const { seen, ...counts } = readOptionalRecord(countsSchema, row) ?? {};
        return { hour: hourSchema.parse(row).hour, counts: { ...zeroWatchCounts, ...counts }, seen };
      }),
    removeBefore: async (time: Date) => removeBefore(time.toISOString()),
  };
}

const countsSchema = z.object({ seen: seenHourSchema.optional() }).catchall(z.number());
const hourSchema = z.object({ hour: z.string() });

function createReviewTable(database: DatabaseSync) {
  const add = database.prepare(`
    INSERT INTO watch_reviews VALUES (:watch_id, :hour, :condition_id, :correct, :wrong, :missed)
    ON CONFLICT DO UPDATE
    SET correct = correct + excluded.correct, wrong = wrong + excluded.wrong, missed = missed + excluded.missed`);
  const list = database.prepare(`
    SELECT hour, condition_id, correct, wrong, missed FROM watch_reviews
    WHERE watch_id = ? AND hour >= ? AND hour < ? ORDER BY hour, condition_id`);
  return {
    add: (
      watchId: string,
      hour: string,
      conditionId: string,
      delta: { correct?: number; wrong?: number; missed?: number },
    ) =>
      void add.run({
        watch_id: watchId,
        hour,
        condition_id: conditionId,
        correct: 0,
        wrong: 0,
        missed: 0,
        ...delta,
      }),
    list: (watchId: string, from: Date, to: Date) =>
      reviewsSchema.parse(list.all(watchId, from.toISOString(), to.toISOString())),
  };
}

const reviewsSchema = z.array(
  z.object({
    hour: z.string(),
    condition_id: z.string(),
    correct: z.int(),
    wrong: z.int(),
    missed: z.int(),
  }),
);

/**
 * Creates the table of events, ordered by sequence within a run and by position within the feed of a caller: there is
 * one writer.
 */
export function createEventTable(database: DatabaseSync) {
  const insert = database.prepare(
    'INSERT INTO events VALUES (NULL, :run_id, :sequence, :type, :feed, :expires_at, :record)',
  );
  const find = database.prepare('SELECT record FROM events WHERE run_id = ? AND sequence = ?');
  const kept = '(expires_at IS NULL OR expires_at > :now)';
  const after = database.prepare(`
    SELECT record FROM events WHERE run_id = :run_id AND sequence > :after AND ${kept} ORDER BY sequence LIMIT :limit`);
  const newest = database.prepare(
    'SELECT record FROM events WHERE run_id = ? AND type = ? ORDER BY sequence DESC LIMIT ?',
  );
  const feed = database.prepare(`
    SELECT position, record FROM events WHERE feed = :feed AND position > :after AND ${kept} ORDER BY position LIMIT :limit`);
  const newestOfFeed = database.prepare('SELECT max(position) AS position FROM events WHERE feed = ?');
  const inSteps = (where: string) =>
    createRemovalInSteps(database, { table: 'events', key: 'position', where });
  const removeExpired = inSteps('expires_at <= ?');
  return {
    /** Throws if the sequence is taken. `caller` is that of a watch, whose feed has the event. */
    insert: (event: RunEvent, caller: string | null, expiresAt: Date | null) =>
      void insert.run({
        run_id: isJobEvent(event) ? event.job_id : event.watch_id,
        sequence: event.sequence,
        type: event.type,
        feed: caller,
        expires_at: expiresAt && expiresAt.getTime(),
        record: JSON.stringify(event),
      }),
    find: (runId: string, sequence: number) => readOptionalRecord(eventSchema, find.get(runId, sequence)),
    after: (runId: string, sequence: number, limit: number, now: Date) =>
      readRecords(eventSchema, after.all({ run_id: runId, after: sequence, limit, now: now.getTime() })),
    newest: (jobId: string, type: EventType, limit: number): JobEvent[] =>
      readRecords(jobEventSchema, newest.all(jobId, type, limit)).toReversed(),
    ofFeed: (caller: string, position: number, limit: number, now: Date) => {
      const rows = feed.all({ feed: caller, after: position, limit, now: now.getTime() });
      const events = readRecords(watchEventSchema, rows);
      return events.map((event, index) => ({ event, position: readPosition(rows[index]) }));
    },
    newestOfFeed: (caller: string) => readPosition(newestOfFeed.get(caller)),
    removeExpired: async (now: Date) => removeExpired(now.getTime()),
    /** Removes the events of a run, which may be gigabytes. */
    removeOfRun: inSteps('run_id = ?'),
  };
}

const eventSchema = z.union([jobEventSchema, watchEventSchema]);

function readPosition(row: Row | undefined): number {
  return z.object({ position: z.int().nullable() }).parse(row).position ?? 0;
}

/** Creates the table of slots: a set of job ids per caller, so that taking or freeing a slot twice changes nothing. */
function createSlotTable(database: DatabaseSync) {
  const take = database.prepare('INSERT OR IGNORE INTO slots VALUES (?, ?)');
  const free = database.prepare('DELETE FROM slots WHERE caller = ? AND job_id = ?');
  const count = database.prepare('SELECT count(*) AS count FROM slots WHERE caller = ?');
  return {
    take: (caller: string, jobId: string) => void take.run(caller, jobId),
    free: (caller: string, jobId: string) => void free.run(caller, jobId),
    count: (caller: string) => readCount(count.get(caller)),
  };
}

/** Creates the table that maps a caller's idempotency key to the request and its job. */
function createIdempotencyTable(database: DatabaseSync) {
  const find = database.prepare(
    'SELECT request_hash, job_id FROM idempotency WHERE caller = ? AND key = ? AND expires_at > ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)');
  const removeExpired = createRemovalInSteps(database, {
    table: 'idempotency',
    key: 'caller, key',
    where: 'expires_at <= ?',
  });
  return {
    find: (caller: string, key: string, now: Date) =>
      idempotencySchema.optional().parse(find.get(caller, key, now.getTime())),
    /** Replaces an expired record. */
    put: (caller: string, record: IdempotencyRecord, jobId: string) =>
      void put.run(caller, record.key, record.requestHash, jobId, record.expiresAt.getTime()),
    removeExpired: async (now: Date) => removeExpired(now.getTime()),
  };
}

const idempotencySchema = z
  .object({ request_hash: z.string(), job_id: z.string() })
  .transform(({ request_hash: requestHash, job_id: runId }) => ({ requestHash, runId }));

/** Creates the table of totals, one row per counter, so that a new counter needs no migration. */
function createTotalsTable(database: DatabaseSync) {
  const add = database.prepare(
    'INSERT INTO totals VALUES (?, ?) ON CONFLICT (counter) DO UPDATE SET value = value + excluded.value',
  );
  const all = database.prepare('SELECT counter, value FROM totals');
  return {
    add: (totals: Totals) => {
      for (const [counter, value] of Object.entries(totals)) add.run(counter, value);
    },
    read: (): Totals => {
      const stored = totalRowsSchema.parse(all.all()).map(({ counter, value }) => [counter, value]);
      return totalsSchema.parse({ ...noTotals, ...Object.fromEntries(stored) });
    },
  };
}

const totalRowsSchema = z.array(z.object({ counter: z.string(), value: z.int() }));

/** Sources change with an edit only, and are below a kB. */
const maxParsed = 1000;

export function createSourceTable(database: DatabaseSync) {
  const put = database.prepare('INSERT OR REPLACE INTO sources VALUES (?, ?)');
  const find = database.prepare('SELECT record FROM sources WHERE source_id = ?');
  const remove = database.prepare('DELETE FROM sources WHERE source_id = ?');
  const read = createRecordReader(sourceSchema, maxParsed);
  return {
    put: (source: Source) => void put.run(source.source_id, JSON.stringify(source)),
    find: (sourceId: string) => read(sourceId, find.get(sourceId)),
    remove: (sourceId: string) => void remove.run(sourceId),
  };
}
