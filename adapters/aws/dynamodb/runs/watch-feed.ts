import { eventsBeforeHole } from '../../../../core/event/tail-events.ts';
import type { Feed, WatchStore, RunStore } from '../../../../core/ports/runs.ts';
import { asWatch, isWatchEvent, type WatchRun } from '../../../../core/records/run.ts';
import type { WatchEvent } from '../../../../core/records/watch-event.ts';
import { z } from 'zod';

type Reads = Pick<RunStore, 'getIncludingEnded' | 'events'>;

/**
 * Reads the events of all watches of a caller, in whose position each log has an entry. No number orders them: commits
 * of several functions become visible in another order than that of their times, and an index of events by time would
 * cost one write unit more for each tick.
 */
export function createWatchFeed(
  runs: Reads,
  list: WatchStore['list'],
): Pick<WatchStore, 'feed' | 'feedPosition'> {
  return {
    feed: async (caller, after, limit, now) => {
      const from = (after === undefined ? undefined : parsePositions(after)) ?? new Map<string, number>();
      const standing = await list(caller);
      const deleted = await findDeleted(standing, caller, from, runs);
      const { positions, isFull } = begin(from, standing, deleted);
      const read = isFull ? deleted : [...standing, ...deleted];
      const entries = await readLogs(read, positions, limit + 1, runs, now);
      const feed = toFeed(entries, positions, deleted, limit);
      return isFull ? { ...feed, hasMore: true } : feed;
    },
    feedPosition: async (caller, text) => {
      const newest = new Map((await list(caller)).map(({ run_id: id, sequence }) => [id, sequence]));
      if (text === undefined) return formatPositions(newest);
      const asked = parsePositions(text);
      return (
        asked &&
        formatPositions(
          new Map([...asked].map(([id, position]) => [id, Math.min(position, newest.get(id) ?? position)])),
        )
      );
    },
  };
}

type Entry = { stored: WatchRun; event: WatchEvent };

function toFeed(
  logged: readonly Entry[],
  from: Positions,
  deleted: readonly WatchRun[],
  limit: number,
): Feed {
  const ends = new Map(deleted.map(({ run_id: id, sequence }) => [id, sequence]));
  const positions = new Map(from);
  const entries = logged.slice(0, limit).map(({ stored: watch, event }) => {
    positions.set(event.watch_id, event.sequence);
    return { watch, event, position: formatPositions(positions) };
  });
  // A reader who has the last event of a deleted watch needs no position in it.
  for (const [id, end] of ends) if (positions.get(id) === end) positions.delete(id);
  return { entries, position: formatPositions(positions), hasMore: logged.length > limit };
}

/** Returns at most `limit` events after `positions`, ordered by time; those of one watch by sequence. */
async function readLogs(
  listed: readonly WatchRun[],
  positions: Positions,
  limit: number,
  runs: Reads,
  now: Date,
): Promise<Entry[]> {
  const pages = await Promise.all(
    listed.map(async (stored) => {
      const { run_id: id } = stored;
      const after = positions.get(id) ?? 0;
      if (stored.sequence <= after) return [];
      const events = await runs.events(id, after, limit, now);
      return eventsBeforeHole(events.filter(isWatchEvent), after, now).map((event) => ({ stored, event }));
    }),
  );
  return mergeByTime(pages, limit);
}

/**
 * Returns the positions of a page: without those of watches that are gone, so that they do not grow for months, and
 * with those of watches that are new to the reader, by which it finds one that is deleted before it reads it. If they
 * have no room, the page is full: it reads what is left of deleted watches, whose positions end with it.
 */
function begin(
  from: Positions,
  standing: readonly WatchRun[],
  deleted: readonly WatchRun[],
): { positions: Positions; isFull: boolean } {
  const listed = new Set([...standing, ...deleted].map(({ run_id: id }) => id));
  const kept = [...from].filter(([id]) => listed.has(id));
  const added = standing.filter(({ run_id: id }) => !from.has(id)).map(({ run_id: id }) => [id, 0] as const);
  const room = maxPositions - kept.length;
  return { positions: new Map([...kept, ...added.slice(0, room)]), isFull: added.length > room };
}

/**
 * Returns watches that were deleted while the reader has not read their last events. They are kept until their purge.
 */
async function findDeleted(
  standing: readonly WatchRun[],
  caller: string,
  positions: Positions,
  runs: Reads,
): Promise<WatchRun[]> {
  const ids = new Set(positions.keys());
  for (const { run_id: id } of standing) ids.delete(id);
  const others = await Promise.all([...ids].map((id) => runs.getIncludingEnded(id)));
  return others
    .map(asWatch)
    .filter((stored) => stored !== undefined)
    .filter((watch) => watch.caller === caller && watch.sequence > (positions.get(watch.run_id) ?? 0));
}

/**
 * Merges logs by time and leaves the order of each log as stored, so that a position never goes back when the clock
 * does.
 */
function mergeByTime(logs: readonly Entry[][], limit: number): Entry[] {
  const rest = logs.map((log) => log.values());
  const heads = rest.map((log) => log.next().value);
  const merged: Entry[] = [];
  while (merged.length < limit) {
    const next = heads.reduce<number>(
      (best, head, index) =>
        head && (!heads[best] || head.event.timestamp < heads[best].event.timestamp) ? index : best,
      0,
    );
    const head = heads[next];
    if (head === undefined) break;
    merged.push(head);
    heads[next] = rest[next]?.next().value;
  }
  return merged;
}

/** Sequence of the newest event that a reader has, by watch. A watch without an entry is new to the reader. */
type Positions = ReadonlyMap<string, number>;

/**
 * Maximum positions that one text has room for: `after` of `/watches/events` is shorter than 8,000 characters, and an
 * entry takes 28.
 */
const maxPositions = 285;

/** Formats positions in the logs of several watches as one text: 16 bytes of each id, and its sequence in 5 bytes. */
function formatPositions(positions: Positions): string {
  const entries = [...positions].map(([id, sequence]) => {
    const entry = Buffer.alloc(entryBytes);
    entry.write(id.replaceAll('-', ''), 'hex');
    entry.writeUIntBE(sequence, idBytes, entryBytes - idBytes);
    return entry;
  });
  return `v${Buffer.concat(entries).toString('base64url')}`;
}

/** Parses positions. Returns undefined for another text. */
function parsePositions(text: string): Positions | undefined {
  const bytes = Buffer.from(text.slice(1), 'base64url');
  if (`v${bytes.toString('base64url')}` !== text || bytes.length % entryBytes !== 0) return undefined;
  const offsets = Array.from({ length: bytes.length / entryBytes }, (_, index) => index * entryBytes);
  const entries = offsets.map((offset) => {
    const id = bytes.toString('hex', offset, offset + idBytes).replace(uuidParts, '$1-$2-$3-$4-$5');
    return [id, bytes.readUIntBE(offset + idBytes, entryBytes - idBytes)] as const;
  });
  return entries.every(([id]) => z.uuid().safeParse(id).success) ? new Map(entries) : undefined;
}

const idBytes = 16;
const entryBytes = 21;
const uuidParts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
