import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { toStems } from '../../../core/memory/stems.ts';
import type { MomentQuery } from '../../../core/ports/moment-store.ts';
import { momentSchema, momentText, readMomentId, type Moment } from '../../../core/records/moment.ts';
import { readRecords, toMilliseconds } from '../sqlite/record.ts';
import { toOwner } from './moment-words.ts';

/** Removed moments, by the keys of their pictures, and whether some are left. */
type Removal = { count: number; keys: string[]; more: boolean };

/** Creates the table of moments, with that of their words. Each statement is inside the transaction of the caller. */
export function createMomentTable(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO moments (caller, watch_id, at, moment_id, expires_at, held, frame_key, record)
    VALUES (:caller, :watch_id, :at, :moment_id, :expires_at, :held, :frame_key, :record)`);
  const insertWords = database.prepare('INSERT INTO moment_words (rowid, owner, words) VALUES (?, ?, ?)');
  const find = database.prepare(`
    SELECT frame_key, record FROM moments
    WHERE watch_id = ? AND at = ? AND moment_id = ? AND caller = ? AND expires_at > ?`);
  const setRecord = database.prepare(
    'UPDATE moments SET record = ? WHERE watch_id = ? AND at = ? AND moment_id = ?',
  );
  const page = database.prepare(`
    SELECT frame_key, record FROM moments WHERE watch_id = :watch_id AND caller = :caller AND expires_at > :now
    AND at >= :from AND at < :to AND (at, moment_id) < (:after_at, :after_id)
    ORDER BY at DESC, moment_id DESC LIMIT :limit`);
  const ofWatch = database.prepare(
    'SELECT moment, frame_key FROM moments WHERE watch_id = ? AND at < ? ORDER BY at LIMIT ?',
  );
  const expired = database.prepare('SELECT moment, frame_key FROM moments WHERE expires_at <= ? LIMIT ?');
  // A change to fewer days, or a deletion, removes what it can while its caller waits.
  const outdated = database.prepare(`
    SELECT moment, frame_key FROM runs INDEXED BY runs_of_watches CROSS JOIN moments ON watch_id = run_id
    WHERE policy = 'watch'
    AND at < iif(gone_at IS NULL, :now - (meta ->> '$.config.memory_days') * 86400000, ${Number.MAX_SAFE_INTEGER})
    LIMIT :limit`);
  const remove = database.prepare('DELETE FROM moments WHERE moment = ?');
  const removeWords = database.prepare('DELETE FROM moment_words WHERE rowid = ?');
  const oldestPictures = database.prepare(`
    SELECT moment, frame_key FROM moments
    WHERE caller = ? AND frame_key IS NOT NULL ORDER BY held, at LIMIT ?`);
  const releasePicture = database.prepare('UPDATE moments SET frame_key = NULL WHERE moment = ?');
  const newestReleased = database.prepare(
    'SELECT max(at) AS at FROM moments WHERE watch_id = ? AND frame_key IS NULL',
  );
  return {
    add: (moment: Moment) => {
      const { frame_key: _, ...record } = moment;
      const { lastInsertRowid } = insert.run({ ...toRow(moment), record: JSON.stringify(record) });
      insertWords.run(lastInsertRowid, toOwner(moment), toStems(momentText(moment)).join(' '));
    },
    find: (caller: string, id: string, now: Date) => {
      const name = readMomentId(id);
      const row = name && find.get(name.watchId, name.at.getTime(), id, caller, now.getTime());
      return row && readMoment(row);
    },
    /** Replaces the record of a moment; its words and verdicts are the same. */
    replace: (moment: Moment) => {
      const { frame_key: _, ...record } = moment;
      setRecord.run(JSON.stringify(record), record.watch_id, toMilliseconds(record.at), record.moment_id);
    },
    page: (query: Omit<MomentQuery, 'watches'>, watchId: string, from: Date, now: Date): Moment[] =>
      page
        .all({
          ...toSpan(query.caller, { watchId, from, to: query.to }, now),
          after_at: query.after ? toMilliseconds(query.after.at) : Number.MAX_SAFE_INTEGER,
          after_id: query.after?.moment_id ?? '',
          limit: query.limit,
        })
        .map(readMoment),
    remove: (watchId: string, before: Date | null, limit: number): Removal =>
      removeRows(ofWatch.all(watchId, before?.getTime() ?? Number.MAX_SAFE_INTEGER, limit + 1), limit),
    removeExpired: (now: Date, limit: number): Removal =>
      removeRows(expired.all(now.getTime(), limit + 1), limit),
    /** Removes moments of deleted watches, and what is older than the memory of its watch. */
    removeOutdated: (now: Date, limit: number): Removal =>
      removeRows(outdated.all({ now: now.getTime(), limit: limit + 1 }), limit),
    /** Forgets the oldest pictures of a caller, those of no verdict that held first. Returns their keys. */
    releasePictures: (caller: string, limit: number): string[] => {
      const rows = rowsSchema.parse(oldestPictures.all(caller, limit));
      for (const { moment } of rows) releasePicture.run(moment);
      return rows.flatMap(({ frame_key: key }) => key ?? []);
    },
    /** Returns the time of the newest moment of a watch that had to give up its picture. */
    newestReleased: (watchId: string): Date | null => {
      const { at } = releasedSchema.parse(newestReleased.get(watchId));
      return at === null ? null : new Date(at);
    },
  };

  function removeRows(selected: unknown, limit: number): Removal {
    const rows = rowsSchema.parse(selected);
    const removed = rows.slice(0, limit);
    for (const { moment } of removed) {
      remove.run(moment);
      removeWords.run(moment);
    }
    const keys = removed.flatMap(({ frame_key: key }) => key ?? []);
    return { count: removed.length, keys, more: rows.length > limit };
  }
}

const rowsSchema = z.array(z.object({ moment: z.int(), frame_key: z.string().nullable() }));
const releasedSchema = z.object({ at: z.int().nullable() });
const rowSchema = z.object({ frame_key: z.string().nullable(), record: z.string() });
const storedSchema = momentSchema.omit({ frame_key: true });

function readMoment(row: Record<string, unknown>): Moment {
  const { frame_key, record: text } = rowSchema.parse(row);
  const [record] = readRecords(storedSchema, [{ record: text }]);
  if (!record) throw new Error('A row has a record');
  return { ...record, frame_key };
}

function toRow(moment: Moment) {
  const { caller, watch_id, moment_id, at: time, expires_at, frame_key, verdicts } = moment;
  return {
    caller,
    watch_id,
    at: toMilliseconds(time),
    moment_id,
    expires_at: toMilliseconds(expires_at),
    held: verdicts.some(({ triggered }) => triggered === true) ? 1 : 0,
    frame_key,
  };
}

function toSpan(caller: string, { watchId, from, to }: { watchId: string; from: Date; to: Date }, now: Date) {
  return { caller, watch_id: watchId, from: from.getTime(), to: to.getTime(), now: now.getTime() };
}
