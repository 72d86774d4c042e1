import { z } from 'zod';
import { mergeMoments, newestFirst, type MomentRun } from '../../../../core/memory/merge-moments.ts';
import { matchWords } from '../../../../core/memory/match-words.ts';
import type { MomentPosition, MomentSpan, MomentStore } from '../../../../core/ports/moment-store.ts';
import {
  momentSchema,
  readMomentId,
  toMomentId,
  withReview,
  type Moment,
  type MomentReview,
} from '../../../../core/records/moment.ts';
import { rules } from '../../../../core/rules.ts';
import { addSeconds, earlier } from '../../../../core/time.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { itemKeys, readRunId, runPartition, sortPrefixes } from '../table/keys.ts';
import { packRecord, readItem, readKey, readRecord } from '../table/record.ts';
import { removeItems } from '../table/remove-items.ts';
import { retryWithJitter } from '../table/retries.ts';
import type { Table, Item, ItemKey, Write } from '../table/table.ts';
import { toHour } from '../../../../core/policies/watch/counts.ts';
import { statsRetentionSeconds } from '../../../../core/ports/runs.ts';

/** Returns the write of the moments of a capture: one item, which expires with the last of them. */
export function putMoments(moments: readonly Moment[]): Write[] {
  const [first] = moments;
  const key = first && toKey(first.moment_id);
  if (!key) return [];
  const ends = moments.map(({ expires_at: end }) => Math.ceil(Date.parse(end) / 1000));
  // The ids follow from the key and the times.
  const record = storedSchema.parse(moments);
  const item = { ...key, moments_of: first.caller, ttl: Math.max(...ends), record: packRecord(record) };
  return [{ kind: 'put', item }];
}

/** Items of one query of words. */
const itemsAtOnce = 1000;
/** Items that one search reads at most. */
const maxItems = 200_000;
/** Time after which a search reads no further item, in milliseconds. */
const maxReadMs = 12_000;
/** A moment is part of a capture that is newer by the longest scan, and by a clock that was set back meanwhile. */
const maxBeforeCaptureSeconds = rules.maxScanSeconds + 60;

/** Creates the store of moments. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createMomentStore(table: Table, backoff: BackoffDeps): MomentStore {
  return {
    list: async (query, now) =>
      mergeMoments(query, ({ watchId, from }, after, limit) =>
        readRun({ ...query, watchId, from }, after === query.after ? undefined : after, limit, now),
      ),
    get: async (caller, momentId, now) => {
      const key = toKey(momentId);
      const item = key && (await table.get(key));
      const moment = item && readMoments(item).find(({ moment_id: id }) => id === momentId);
      return moment?.caller === caller && new Date(moment.expires_at) > now ? moment : undefined;
    },
    review: async (caller, momentId, review, now) =>
      (await retryWithJitter(() => tryReview(caller, momentId, review, now), backoff)).moment,
    count: async (span, now) => (await readAll(span, now)).moments.length,
    words: async (span, stems, limit, now) => {
      const { moments, readFrom } = await readAll(span, now);
      const matches = matchWords(moments, stems, limit);
      return { ...matches, readFrom: matches.readFrom ?? readFrom };
    },
    remove: async (watchId, before, limit) => {
      const items = await table.query({
        where: '#pk = :watch AND #sk BETWEEN :from AND :to',
        values: {
          ':watch': runPartition(watchId),
          ':from': sortPrefixes.moments,
          ':to': before ? sortKey(before) : `${sortPrefixes.moments}~`,
        },
        limit,
      });
      await removeItems(table, items.map(readKey));
      const keys = items.flatMap(readMoments).flatMap(({ frame_key: key }) => key ?? []);
      return { keys, more: items.length === limit };
    },
    picturesKeptFrom: async () => null,
  };

  /** Stores a review in the item of its capture, and its count. Returns undefined if the item was changed meanwhile. */
  async function tryReview(caller: string, momentId: string, review: MomentReview, now: Date) {
    const key = toKey(momentId);
    const item = key && (await table.get(key));
    const moments = item ? readMoments(item) : [];
    const moment = moments.find(({ moment_id: id }) => id === momentId);
    if (!key || !item || moment?.caller !== caller || new Date(moment.expires_at) <= now)
      return { moment: undefined };
    const { reviewed, missed } = withReview(moment, review);
    const record = storedSchema.parse(moments.map((other) => (other === moment ? reviewed : other)));
    const result = await table.transact([
      {
        kind: 'update',
        key,
        change: 'SET #record = :record',
        condition: '#record = :before',
        values: { ':record': packRecord(record), ':before': item['record'] },
      },
      countReviews(moment.watch_id, new Date(moment.at), review.condition_id, { missed }),
    ]);
    return result.kind === 'written' ? { moment: reviewed } : undefined;
  }

  /** Reads items of a watch, newest first, behind that of `read`. `after` is the position of the page. */
  async function readRun(
    { caller, watchId, from, to, after }: ReadSpan,
    read: MomentPosition | undefined,
    limit: number,
    now: Date,
  ): Promise<MomentRun> {
    const until = after ? earlier(to, addSeconds(new Date(after.at), 1)) : to;
    if (until <= from) return { moments: [], after: null };
    const last = read && toKey(read.moment_id)?.sk;
    const items = await table.query({
      where: '#pk = :watch AND #sk BETWEEN :from AND :to',
      values: {
        ':watch': runPartition(watchId),
        ':from': sortKey(from),
        // Captures overlap: an item that is newer than the position may have moments behind it.
        ':to': last ?? `${sortKey(addSeconds(until, maxBeforeCaptureSeconds))}~`,
      },
      newestFirst: true,
      mayLag: true,
      // The first item was read before.
      limit: last === undefined ? limit : limit + 1,
    });
    const unread = items.filter((item) => readKey(item).sk !== last).map(readMoments);
    const moments = unread
      .flat()
      .filter((moment) => moment.caller === caller && new Date(moment.expires_at) > now)
      .filter(({ at }) => new Date(at) >= from && new Date(at) < to)
      .filter((moment) => !after || newestFirst(after, moment) < 0)
      .toSorted(newestFirst);
    return { moments, after: unread.length < limit ? null : (unread.at(-1)?.[0] ?? null) };
  }

  /**
   * Reads the moments of a span, of each watch side by side; those of a time that was not read of every watch are left
   * out.
   */
  async function readAll({ caller, watches, to }: MomentSpan, now: Date) {
    const most = Math.ceil(maxItems / Math.max(1, watches.length));
    const beganMs = performance.now();
    const mayRead = (items: number) => items < most && performance.now() - beganMs < maxReadMs;
    const runs = await Promise.all(
      watches.map(async (watch) => {
        const moments: Moment[] = [];
        let after: MomentPosition | null | undefined;
        for (let items = 0; after !== null && mayRead(items); items += itemsAtOnce) {
          const run = await readRun({ caller, ...watch, to }, after, itemsAtOnce, now);
          moments.push(...run.moments);
          after = run.after;
        }
        return { moments, readFrom: after?.at ?? '' };
      }),
    );
    const readFrom = runs.reduce((latest, run) => (run.readFrom > latest ? run.readFrom : latest), '');
    const moments = runs.flatMap((run) => run.moments).filter(({ at }) => at >= readFrom);
    return { moments, readFrom: readFrom === '' ? null : readFrom };
  }
}

type ReadSpan = {
  caller: string;
  watchId: string;
  from: Date;
  to: Date;
  after?: MomentPosition | undefined;
};

function toKey(momentId: string): ItemKey | undefined {
  const name = readMomentId(momentId);
  return name && itemKeys.moments(name.watchId, name.captureAt, name.tick);
}

function sortKey(time: Date): string {
  return `${sortPrefixes.moments}${time.toISOString()}`;
}

/** Reads the moments of an item, oldest first. */
function readMoments(item: Item): Moment[] {
  const { pk, sk } = readKey(item);
  const { moments_of: caller } = readItem(ownerSchema, item);
  const watchId = readRunId({ pk });
  const [time = '', tick = ''] = sk.slice(sortPrefixes.moments.length).split('#');
  const name = { watchId, captureAt: new Date(time), tick: Number(tick) };
  return readRecord(storedSchema, item).map((moment) => ({
    ...moment,
    moment_id: toMomentId({ ...name, at: new Date(moment.at) }),
    watch_id: watchId,
    caller,
  }));
}

const ownerSchema = z.object({ moments_of: z.string() });
const recordSchema = momentSchema.omit({ moment_id: true, watch_id: true, caller: true });
const storedSchema = z.array(recordSchema);

/** Returns the write that adds to the reviewed numbers of an hour. */
export function countReviews(
  watchId: string,
  time: Date,
  conditionId: string,
  { correct = 0, wrong = 0, missed = 0 }: { correct?: number; wrong?: number; missed?: number },
): Write {
  return {
    kind: 'update',
    key: itemKeys.watchReviews(watchId, toHour(time), conditionId),
    change: 'SET #ttl = :ttl ADD #correct :correct, #wrong :wrong, #missed :missed',
    values: {
      ':correct': correct,
      ':wrong': wrong,
      ':missed': missed,
      ':ttl': Math.ceil(addSeconds(time, statsRetentionSeconds).getTime() / 1000),
    },
  };
}
