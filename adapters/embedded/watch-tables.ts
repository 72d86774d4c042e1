import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { hasDestinations } from '../../core/event/receivers.ts';
import type { AlertQuery } from '../../core/ports/watch-store.ts';
import { watchSecretsSchema, type WatchSecrets } from '../../core/records/watch-secrets.ts';
import { watchSchema, type Watch } from '../../core/records/watch.ts';
import { watchEventSchema, type WatchEvent } from '../../core/records/watch-event.ts';
import { watchProgressSchema, type WatchProgress, type WatchRun } from '../../core/records/watch-run.ts';
import { alertSchema, type Alert } from '../../core/records/watch-state.ts';
import { zeroWatchCounts } from '../../core/watch/stored-watch.ts';
import {
  createRecordReader,
  readCount,
  readOptionalRecord,
  readRecords,
  toMilliseconds,
  type Row,
} from './record.ts';

/** Creates the tables of watches, their secrets, logs, alerts and statistics. */
export function createWatchTables(database: DatabaseSync) {
  return {
    watches: createWatchTable(database),
    secrets: createSecretsTable(database),
    events: createWatchEventTable(database),
    alerts: createAlertTable(database),
    hours: createHourTable(database),
    reviews: createReviewTable(database),
  };
}

export type WatchTables = ReturnType<typeof createWatchTables>;

function createWatchTable(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO watches VALUES (:watch_id, :caller, :created_at, :version, :published, :unpublished,
      :lease_until, :deleted_at, :record, :run)`);
  const update = database.prepare(`
    UPDATE watches SET version = :version, published = :published, unpublished = :unpublished,
      lease_until = :lease_until, deleted_at = :deleted_at, run = :run
    WHERE watch_id = :watch_id`);
  const configure = database.prepare('UPDATE watches SET record = ? WHERE watch_id = ?');
  const columns = 'watch_id, record, run, published, unpublished';
  const readWatch = createWatchReader();
  const find = database.prepare(`SELECT ${columns} FROM watches WHERE watch_id = ?`);
  const findRecord = database.prepare('SELECT record FROM watches WHERE watch_id = ?');
  const list = database.prepare(`
    SELECT ${columns} FROM watches WHERE caller = ? AND deleted_at IS NULL ORDER BY created_at, watch_id`);
  const count = database.prepare(
    'SELECT count(*) AS count FROM watches WHERE caller = ? AND deleted_at IS NULL',
  );
  const publish = database.prepare('UPDATE watches SET published = max(published, ?) WHERE watch_id = ?');
  const remove = database.prepare('DELETE FROM watches WHERE watch_id = ?');
  const late = database.prepare(
    'SELECT watch_id FROM watches WHERE lease_until < ? ORDER BY lease_until LIMIT ?',
  );
  const standing = database.prepare(`SELECT ${columns} FROM watches WHERE lease_until IS NOT NULL`);
  const unpublished = database.prepare('SELECT watch_id FROM watches WHERE unpublished > published LIMIT ?');
  const deleted = database.prepare('SELECT watch_id FROM watches WHERE deleted_at <= ? LIMIT ?');
  return {
    insert: (stored: WatchRun, unpublishedTo: number) =>
      void insert.run({
        ...toRow(stored, unpublishedTo),
        caller: stored.caller,
        created_at: toMilliseconds(stored.created_at),
        record: JSON.stringify(watchSchema.parse(stored)),
      }),
    update: (stored: WatchRun, unpublishedTo: number) => void update.run(toRow(stored, unpublishedTo)),
    configure: (watch: Watch) => void configure.run(JSON.stringify(watch), watch.run_id),
    find: (watchId: string) => readWatch(find.get(watchId)),
    /** Returns the configuration alone. */
    findRecord: (watchId: string) => readOptionalRecord(watchSchema, findRecord.get(watchId)),
    list: (caller: string) => list.all(caller).flatMap((row) => readWatch(row)?.stored ?? []),
    count: (caller: string) => readCount(count.get(caller)),
    markPublished: (watchId: string, sequence: number) => void publish.run(sequence, watchId),
    remove: (watchId: string) => void remove.run(watchId),
    /** Returns ids of watches with a lease that ended before `now`, oldest first. */
    silentSince: (now: Date, limit: number) => readIds(late.all(now.getTime(), limit)),
    /** Returns the watches that are neither paused nor deleted. */
    standing: () => standing.all().flatMap((row) => readWatch(row)?.stored ?? []),
    unpublished: (limit: number) => readIds(unpublished.all(limit)),
    deletedBy: (at: Date, limit: number) => readIds(deleted.all(at.getTime(), limit)),
  };
}

function toRow(watch: WatchRun, unpublished: number) {
  const run = watchProgressSchema.parse(watch);
  return {
    watch_id: watch.run_id,
    version: run.version,
    published: run.published,
    unpublished: hasDestinations(watch) ? unpublished : 0,
    lease_until: isIdle(run) ? null : toMilliseconds(run.lease_until),
    deleted_at: run.deleted_at === null ? null : toMilliseconds(run.deleted_at),
    run: JSON.stringify(run),
  };
}

/** Returns true if no execution of the watch is expected to commit. */
function isIdle({ status, deleted_at: deletedAt }: WatchProgress): boolean {
  return status === 'paused' || deletedAt !== null;
}

/** Creates a reader of a watch, and of the sequence up to which events must be published. */
function createWatchReader() {
  const configurations = createRecordReader(watchSchema, maxParsed);
  const progress = createRecordReader(watchProgressSchema, maxParsed);
  return (row: Row | undefined): { stored: WatchRun; unpublished: number } | undefined => {
    if (row === undefined) return undefined;
    const { watch_id: id, published, unpublished } = positionsSchema.parse(row);
    const watch = configurations.read(id, row);
    const run = progress.read(id, { record: row['run'] ?? null });
    return watch && run && { stored: { ...watch, ...run, published }, unpublished };
  };
}

/** Watches of a busy machine, up to 6 kB each. */
const maxParsed = 500;

const positionsSchema = z.object({ watch_id: z.string(), published: z.int(), unpublished: z.int() });

function createSecretsTable(database: DatabaseSync) {
  const put = database.prepare('INSERT OR REPLACE INTO watch_secrets VALUES (?, ?)');
  const find = database.prepare('SELECT record FROM watch_secrets WHERE watch_id = ?');
  const remove = database.prepare('DELETE FROM watch_secrets WHERE watch_id = ?');
  return {
    put: (secrets: WatchSecrets) => void put.run(secrets.watch_id, JSON.stringify(secrets)),
    find: (watchId: string) => readOptionalRecord(watchSecretsSchema, find.get(watchId)),
    remove: (watchId: string) => void remove.run(watchId),
  };
}

function createWatchEventTable(database: DatabaseSync) {
  const insert = database.prepare('INSERT INTO watch_events VALUES (NULL, ?, ?, ?, ?, ?)');
  const feed = database.prepare(`
    SELECT position, record FROM watch_events WHERE caller = ? AND position > ? AND expires_at > ? ORDER BY position LIMIT ?`);
  const newest = database.prepare('SELECT max(position) AS position FROM watch_events WHERE caller = ?');
  const after = database.prepare(`
    SELECT record FROM watch_events WHERE watch_id = ? AND sequence > ? AND expires_at > ? ORDER BY sequence LIMIT ?`);
  const find = database.prepare('SELECT record FROM watch_events WHERE watch_id = ? AND sequence = ?');
  const remove = database.prepare('DELETE FROM watch_events WHERE watch_id = ?');
  const removeExpired = database.prepare('DELETE FROM watch_events WHERE expires_at <= ?');
  return {
    insert: (event: WatchEvent, caller: string, expiresAt: Date) =>
      void insert.run(caller, event.watch_id, event.sequence, expiresAt.getTime(), JSON.stringify(event)),
    /** Returns events of a caller after a position, in the order of their commits: there is one writer. */
    ofCaller: (caller: string, after: number, limit: number, now: Date) => {
      const rows = feed.all(caller, after, now.getTime(), limit);
      const events = readRecords(watchEventSchema, rows);
      return events.map((event, index) => ({ event, position: readPosition(rows[index]) }));
    },
    newestOfCaller: (caller: string) => readPosition(newest.get(caller)),
    after: (watchId: string, sequence: number, limit: number, now: Date) =>
      readRecords(watchEventSchema, after.all(watchId, sequence, now.getTime(), limit)),
    find: (watchId: string, sequence: number) =>
      readOptionalRecord(watchEventSchema, find.get(watchId, sequence)),
    removeAll: (watchId: string) => void remove.run(watchId),
    removeExpired: (now: Date) => Number(removeExpired.run(now.getTime()).changes),
  };
}

function readPosition(row: Row | undefined): number {
  return z.object({ position: z.int().nullable() }).parse(row).position ?? 0;
}

function createAlertTable(database: DatabaseSync) {
  const put = database.prepare(`
    INSERT OR REPLACE INTO alerts VALUES (:alert_id, :watch_id, :caller, :opened_at, :is_open, :expires_at, :record)`);
  const kept = '(expires_at IS NULL OR expires_at > :now)';
  const find = database.prepare(`SELECT record FROM alerts WHERE alert_id = :alert_id AND ${kept}`);
  const matching = `${kept} AND opened_at >= :from AND opened_at < :to
    AND (opened_at < :after_time OR (opened_at = :after_time AND alert_id < :after_id))
    AND (:is_open IS NULL OR is_open = :is_open) ORDER BY opened_at DESC, alert_id DESC LIMIT :limit`;
  const byCaller = database.prepare(`SELECT record FROM alerts WHERE caller = :caller AND ${matching}`);
  const byWatch = database.prepare(`
    SELECT record FROM alerts WHERE watch_id = :watch_id AND caller = :caller AND ${matching}`);
  const remove = database.prepare('DELETE FROM alerts WHERE watch_id = ?');
  const removeExpired = database.prepare('DELETE FROM alerts WHERE expires_at <= ?');
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
    removeAll: (watchId: string) => void remove.run(watchId),
    removeExpired: (now: Date) => Number(removeExpired.run(now.getTime()).changes),
  };
}

function toAlertRow(alert: Alert) {
  return {
    alert_id: alert.alert_id,
    watch_id: alert.watch_id,
    caller: alert.caller,
    opened_at: alert.opened_at,
    is_open: alert.closed === null ? 1 : 0,
    expires_at: alert.expires_at === null ? null : toMilliseconds(alert.expires_at),
    record: JSON.stringify(alert),
  };
}

/** `~` sorts after all timestamps. */
function toCondition({ caller, state, from, to, after, limit }: AlertQuery, now: Date) {
  return {
    caller,
    now: now.getTime(),
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
  const remove = database.prepare('DELETE FROM watch_hours WHERE watch_id = ?');
  const removeExpired = database.prepare('DELETE FROM watch_hours WHERE hour < ?');
  return {
    add: (watchId: string, hour: string, counts: [string, number][]) => {
      const before: Record<string, number> = readOptionalRecord(countsSchema, find.get(watchId, hour)) ?? {};
      const sums = counts.map(([name, value]) => [name, (before[name] ?? 0) + value]);
      put.run(watchId, hour, JSON.stringify({ ...before, ...Object.fromEntries(sums) }));
    },
    list: (watchId: string, from: Date, to: Date) =>
      list.all(watchId, from.toISOString(), to.toISOString()).map((row) => ({
        hour: hourSchema.parse(row).hour,
        counts: { ...zeroWatchCounts, ...readOptionalRecord(countsSchema, row) },
      })),
    removeAll: (watchId: string) => void remove.run(watchId),
    removeBefore: (at: Date) => Number(removeExpired.run(at.toISOString()).changes),
  };
}

const countsSchema = z.record(z.string(), z.number());
const hourSchema = z.object({ hour: z.string() });

function createReviewTable(database: DatabaseSync) {
  const add = database.prepare(`
    INSERT INTO watch_reviews VALUES (:watch_id, :week, :condition_id, :correct, :wrong)
    ON CONFLICT DO UPDATE SET correct = correct + excluded.correct, wrong = wrong + excluded.wrong`);
  const list = database.prepare(`
    SELECT week, condition_id, correct, wrong FROM watch_reviews
    WHERE watch_id = ? AND week >= ? AND week < ? ORDER BY week, condition_id`);
  const remove = database.prepare('DELETE FROM watch_reviews WHERE watch_id = ?');
  return {
    add: (watchId: string, week: string, conditionId: string, delta: { correct: number; wrong: number }) =>
      void add.run({ watch_id: watchId, week, condition_id: conditionId, ...delta }),
    list: (watchId: string, from: string, to: string) => reviewsSchema.parse(list.all(watchId, from, to)),
    removeAll: (watchId: string) => void remove.run(watchId),
  };
}

const reviewsSchema = z.array(
  z.object({ week: z.string(), condition_id: z.string(), correct: z.int(), wrong: z.int() }),
);

function readIds(rows: Row[]): string[] {
  return idsSchema.parse(rows).map((row) => row.watch_id);
}

const idsSchema = z.array(z.object({ watch_id: z.string() }));
