import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { z } from 'zod';
import { maxLookedBack, type Neighbor, toMatches } from '../../../core/memory/match-words.ts';
import type { MomentSpan, QueryStems, WordMatches } from '../../../core/ports/moment-store.ts';
import type { MatchedMoment } from '../../../core/memory/rank-moments.ts';
import { momentVerdictSchema, type Moment } from '../../../core/records/moment.ts';
import { readCount, readRecords } from '../sqlite/record.ts';

/**
 * Returns the words by which the full-text table finds moments of a caller and of a watch: a name may have any
 * characters.
 */
export function toOwner({ caller, watch_id: watchId }: Pick<Moment, 'caller' | 'watch_id'>): string {
  return `${callerWord(caller)} ${watchWord(watchId)}`;
}

function callerWord(caller: string): string {
  return `c${Buffer.from(caller).toString('hex')}`;
}

function watchWord(watchId: string): string {
  return `w${watchId.replaceAll('-', '')}`;
}

function anyOf(words: readonly string[]): string {
  return `(${words.map((word) => `"${word}"`).join(' OR ')})`;
}

/** Has no patterns of texts, which this service wrote: a search reads thousands of records. */
const matchedSchema: z.ZodType<MatchedMoment> = z.object({
  moment_id: z.string(),
  watch_id: z.string(),
  at: z.string(),
  verdicts: z.array(momentVerdictSchema),
  scene: z.string().optional(),
  objects: z.array(z.string()).optional(),
});
const rowsSchema = z.array(z.object({ moment: z.int(), record: z.string() }));
const neighborsSchema = z.array(z.object({ moment: z.int(), at: z.int() }));
const oldestSchema = z.object({ at: z.string() });

const hourMs = 3_600_000;

/** Counts the moments of a span by the numbers of whole hours: there may be a million. */
export function countMoments(database: DatabaseSync, { caller, watches, to }: MomentSpan, now: Date): number {
  const isOwn = database.prepare(
    'SELECT count(*) AS count FROM (SELECT 1 FROM moments WHERE watch_id = ? AND caller = ? LIMIT 1)',
  );
  const all = database.prepare(`
    SELECT (SELECT count(*) FROM moments WHERE watch_id = :id AND at >= :from AND at < min(:first * ${hourMs}, :to))
    + (SELECT coalesce(sum(count), 0) FROM moment_hours WHERE watch_id = :id AND hour >= :first AND hour < :last)
    + (SELECT count(*) FROM moments WHERE watch_id = :id AND at >= :last * ${hourMs} AND at < :to) AS count`);
  const expired = database.prepare(
    'SELECT count(*) AS count FROM moments INDEXED BY moments_by_expiry WHERE watch_id = ? AND at >= ? AND at < ? AND expires_at <= ?',
  );
  return watches
    .filter(({ watchId }) => readCount(isOwn.get(watchId, caller)) > 0)
    .reduce((sum, { watchId, from }) => {
      const [fromMs, toMs] = [from.getTime(), to.getTime()];
      const first = Math.ceil(fromMs / hourMs);
      const last = Math.max(first, Math.floor(toMs / hourMs));
      const counted = readCount(all.get({ id: watchId, from: fromMs, to: toMs, first, last }));
      return sum + counted - readCount(expired.get(watchId, fromMs, toMs, now.getTime()));
    }, 0);
}

/**
 * Finds the newest moments with a word of a query, by the full-text table, whose newest entries are the newest moments
 * but for those of late commits. Stems have letters and digits only, so that none is syntax of the table.
 */
export function findWords(
  database: DatabaseSync,
  span: MomentSpan,
  stems: QueryStems,
  limit: number,
  now: Date,
): WordMatches {
  const rows = findRows(database, span, [...stems.own, ...stems.added], limit + 1, now);
  const moments = rows.slice(0, limit);
  const ids = new Set(rows.map(({ id }) => id));
  const idOf = new Map(moments.map(({ id, moment }) => [moment, id]));
  const readFrom = rows.length > limit ? oldestSchema.parse(moments.at(-1)?.moment).at : null;
  const begin = readFrom === null ? new Date(0) : new Date(readFrom);
  const watches = span.watches.map(({ watchId, from }) => ({ watchId, from: from > begin ? from : begin }));
  const before = createNeighborReader(database, ids);
  return {
    matches: toMatches([...idOf.keys()], stems, before),
    read: countMoments(database, { ...span, watches }, now),
    readFrom,
  };
}

function findRows(
  database: DatabaseSync,
  { caller, watches, to }: MomentSpan,
  stems: readonly string[],
  limit: number,
  now: Date,
) {
  if (watches.length === 0 || stems.length === 0) return [];
  const begins = new Map(watches.map(({ watchId, from }) => [watchId, from.getTime()]));
  const owners = areAll(database, caller, begins.size)
    ? [callerWord(caller)]
    : [...begins.keys()].map(watchWord);
  const values: Record<string, SQLInputValue> = {
    match: `owner : ${anyOf(owners)} AND words : ${anyOf(stems)}`,
    caller,
    watches: JSON.stringify([...begins.keys()]),
    from: Math.min(...begins.values()),
    to: to.getTime(),
    now: now.getTime(),
    limit,
  };
  const matches = database
    .prepare(
      `SELECT moments.moment, moments.record FROM moment_words
      JOIN moments ON moments.moment = moment_words.rowid
      WHERE moment_words MATCH :match AND moments.caller = :caller AND moments.expires_at > :now
      AND moments.watch_id IN (SELECT value FROM json_each(:watches))
      AND moments.at >= :from AND moments.at < :to ORDER BY moment_words.rowid DESC LIMIT :limit`,
    )
    .all(values);
  const records = readRecords(matchedSchema, matches);
  return rowsSchema
    .parse(matches)
    .flatMap(({ moment: id }, index) => {
      const record = records[index];
      return record ? [{ id, moment: record }] : [];
    })
    .filter(({ moment: { watch_id: watchId, at } }) => Date.parse(at) >= (begins.get(watchId) ?? Infinity))
    .toSorted((one, other) => (one.moment.at < other.moment.at ? 1 : -1));
}

/**
 * Returns true if a caller has no more watches than these. Looking for each of many in the table takes longer; without
 * them, it would find the moments of the others too.
 */
function areAll(database: DatabaseSync, caller: string, count: number): boolean {
  const all = database.prepare("SELECT count(*) AS count FROM runs WHERE caller = ? AND policy = 'watch'");
  return readCount(all.get(caller)) <= count;
}

/** Returns a function that reads the moments of a watch before one. `matching` has the numbers of those with a word. */
function createNeighborReader(database: DatabaseSync, matching: ReadonlySet<number>) {
  const read = database.prepare(
    `SELECT moment, at FROM moments WHERE watch_id = ? AND at < ? ORDER BY at DESC LIMIT ${maxLookedBack}`,
  );
  const described = database.prepare(
    "SELECT record ->> 'scene' IS NOT NULL AS count FROM moments WHERE moment = ?",
  );
  return ({ watch_id: watchId, at }: MatchedMoment): Neighbor[] =>
    neighborsSchema.parse(read.all(watchId, Date.parse(at))).map((neighbor) => ({
      at: new Date(neighbor.at),
      isMatch: matching.has(neighbor.moment),
      isDescribed: () => readCount(described.get(neighbor.moment)) === 1,
    }));
}
