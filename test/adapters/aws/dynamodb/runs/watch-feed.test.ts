import { expect, test } from 'vitest';
import { createWatchFeed } from '../../../../../adapters/aws/dynamodb/runs/watch-feed.ts';
import type { Feed } from '../../../../../core/ports/runs.ts';
import type { WatchRun } from '../../../../../core/records/run.ts';
import type { WatchEvent } from '../../../../../core/records/watch-event.ts';
import { allWatchEventsQuerySchema } from '../../../../../core/requests/watch-queries.ts';
import { start } from '../../../../contract/records.ts';
import { logged, newCreation, progress, toStored } from '../../../../contract/watch-records.ts';
import { stageSettingsSchema } from '../../../../../lib/stages/stage-settings.ts';

function createFeed(count: number, sequence: number) {
  const create = (): WatchRun => ({ ...toStored(newCreation()), sequence });
  const watches = Array.from({ length: count }, create);
  let hidden = 0;
  const events = async (id: string, after: number): Promise<WatchEvent[]> => {
    const watch = watches.find(({ run_id }) => run_id === id)!;
    const log = logged(
      watch,
      Array.from({ length: sequence }, () => progress),
      0,
    );
    return log.filter((event) => event.sequence > after && event.sequence !== hidden);
  };
  const getIncludingEnded = async (id: string) => watches.find(({ run_id }) => run_id === id);
  const list = async () => watches.filter(({ deleted_at: at }) => at === null);
  const feed = createWatchFeed({ getIncludingEnded, events }, list);
  /** Deletes the newest watches, and creates as many. */
  const replace = (replaced: number) => {
    for (const watch of watches.slice(-replaced)) watch.deleted_at = start.toISOString();
    watches.push(...Array.from({ length: replaced }, create));
  };
  return { feed, watches, replace, hide: (each: number) => void (hidden = each) };
}

/** Maximum watches that a stage permits. */
const maximum = stageSettingsSchema.shape.watchesPerCaller.unwrap().maxValue ?? 0;

test('a position in the logs of as many watches as a stage permits fits a URL of CloudFront', async () => {
  const { feed } = createFeed(maximum, 10_000_001);
  const position = await feed.feedPosition('alice');
  expect(position!.length).toBeGreaterThan(27 * maximum);
  expect(
    `https://d0123456789abc.cloudfront.net/api/watches/events?limit=1000&after=${position}`.length,
  ).toBeLessThan(8192);
  expect(await feed.feedPosition('alice', position)).toBe(position);
});

test('a position has room for watches that are deleted and created between two reads, whose events a reader gets once', async () => {
  const { feed, watches, replace } = createFeed(maximum, 3);
  const first = await feed.feed('alice', undefined, 100, start);
  replace(60);
  const found = new Set<string>();
  const read = ({ entries }: Feed) => {
    for (const { event } of entries) {
      const name = `${event.watch_id} ${event.sequence}`;
      expect(found.has(name)).toBe(false);
      found.add(name);
    }
  };
  read(first);
  let page = first;
  while (page.hasMore) {
    page = await feed.feed('alice', page.position, 100, start);
    read(page);
    for (const position of [page.position, ...page.entries.map((entry) => entry.position)])
      expect(allWatchEventsQuerySchema.safeParse({ after: position }).success).toBe(true);
  }
  expect(found.size).toBe(3 * watches.length);
});

test('a reader stops at a hole in a log until the commit in it is visible', async () => {
  const { feed, hide } = createFeed(1, 3);
  hide(2);
  const first = await feed.feed('alice', undefined, 10, start);
  expect(first.entries.map(({ event }) => event.sequence)).toEqual([1]);
  hide(0);
  const second = await feed.feed('alice', first.position, 10, start);
  expect(second.entries.map(({ event }) => event.sequence)).toEqual([2, 3]);
});
