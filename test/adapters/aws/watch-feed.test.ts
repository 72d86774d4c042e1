import { describe, expect, test } from 'vitest';
import { createWatchFeed } from '../../../adapters/aws/dynamodb/watch-feed.ts';
import type { WatchRun } from '../../../core/records/watch-run.ts';
import type { WatchEvent } from '../../../core/records/watch-event.ts';
import { start } from '../../contract/records.ts';
import { logged, newCreation, progress, toStored } from '../../contract/watch-records.ts';
import { stageSettingsSchema } from '../../../lib/stage/stage-settings.ts';

function createFeed(count: number, sequence: number) {
  const watches: WatchRun[] = Array.from({ length: count }, () => {
    return { ...toStored(newCreation()), sequence };
  });
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
  const feed = createWatchFeed({
    list: async () => watches,
    getIncludingEnded: async () => undefined,
    events,
  });
  return { feed, hide: (each: number) => void (hidden = each) };
}

describe('the feed of a caller on AWS', () => {
  test('a position in the logs of as many watches as a stage permits fits a URL of CloudFront', async () => {
    const maximum = stageSettingsSchema.shape.watchesPerCaller.unwrap().maxValue ?? 0;
    const { feed } = createFeed(maximum, 10_000_001);
    const position = await feed.feedPosition('alice');
    expect(position!.length).toBeGreaterThan(27 * maximum);
    expect(
      `https://d0123456789abc.cloudfront.net/api/watches/events?limit=1000&after=${position}`.length,
    ).toBeLessThan(8192);
    expect(await feed.feedPosition('alice', position)).toBe(position);
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
});
