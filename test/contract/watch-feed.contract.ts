import type { WatchRuns } from '../support/select-runs.ts';
import { expect, test } from 'vitest';
import type { WatchCreation } from '../../core/ports/runs.ts';
import { after, start } from './records.ts';
import { logged, newChange, newCreation, progress } from './watch-records.ts';

/** Contract of `WatchStore.feed`. */
export function feedCases(makeStore: () => Promise<WatchRuns>): void {
  /** Appends a check to the log of a watch, `seconds` after the start. */
  async function append(store: WatchRuns, watch: WatchCreation, seconds: number): Promise<void> {
    const stored = (await store.get(watch.run_id, start))!;
    const { sequence } = stored;
    const events = logged(watch, [progress], sequence).map((event) => ({
      ...event,
      timestamp: after(seconds).toISOString(),
    }));
    expect(await store.commit(newChange(stored, { set: { sequence: sequence + 1 }, events }))).toBe(
      'committed',
    );
  }

  /** Reads pages to the end. */
  async function readAll(store: WatchRuns, from: string | undefined, limit: number) {
    const found: string[] = [];
    let position = from;
    for (;;) {
      const feed = await store.feed('alice', position, limit, after(100));
      found.push(...feed.entries.map(({ watch, event }) => `${watch.run_id} ${event.sequence}`));
      // A position after each event is that of a reader who has it.
      const [first] = feed.entries;
      if (first) {
        const next = await store.feed('alice', first.position, limit, after(100));
        expect(next.entries[0]?.event).toEqual(feed.entries[1]?.event ?? next.entries[0]?.event);
      }
      position = feed.position;
      if (!feed.hasMore) return { found, position };
      if (found.length > 100) throw new Error('The pages have no end');
    }
  }

  test.each([1, 2, 100])(
    'a reader gets each event of a caller once, also when clocks step and watches are deleted (pages of %i)',
    async (limit) => {
      const store = await makeStore();
      const [one, other, foreign] = [newCreation(), newCreation(), newCreation({ caller: 'bob' })];
      for (const creation of [one, other, foreign]) await store.create(creation, start);
      await append(store, one, 20);
      await append(store, foreign, 20);
      const before = await readAll(store, undefined, limit);
      const ids = (creation: WatchCreation, ...sequences: number[]) =>
        sequences.map((sequence) => `${creation.run_id} ${sequence}`);
      expect(before.found.toSorted()).toEqual([...ids(one, 1, 2), ...ids(other, 1)].toSorted());

      // The clock goes back behind what the reader has.
      await append(store, other, 5);
      await append(store, one, 6);
      const created = newCreation();
      await store.create(created, start);
      const run = (await store.get(one.run_id, start))!;
      await store.commit(newChange(run, { set: { deleted_at: after(30).toISOString() } }));
      const later = await readAll(store, before.position, limit);
      expect(later.found.toSorted()).toEqual(
        [...ids(other, 2), ...ids(one, 3), ...ids(created, 1)].toSorted(),
      );
      expect((await readAll(store, later.position, limit)).found).toEqual([]);
    },
  );

  test('a watch that is deleted between two pages is read to its end', async () => {
    const store = await makeStore();
    const creations = [newCreation(), newCreation()];
    for (const creation of creations) await store.create(creation, start);
    const first = await store.feed('alice', undefined, 1, after(100));
    const unread = creations.find(({ run_id: id }) => id !== first.entries[0]?.watch.run_id)!;
    const run = (await store.get(unread.run_id, start))!;
    await store.commit(newChange(run, { set: { deleted_at: after(30).toISOString() } }));
    expect((await readAll(store, first.position, 10)).found).toEqual([`${unread.run_id} 1`]);
  });

  test('the newest position has new events only, one beyond it means now, and another text is rejected', async () => {
    const store = await makeStore();
    const ahead = await makeStore();
    const creation = newCreation();
    for (const each of [store, ahead]) await each.create(creation, start);
    await append(ahead, creation, 1);
    const now = (await store.feedPosition('alice'))!;
    const beyond = (await store.feedPosition('alice', await ahead.feedPosition('alice')))!;
    await append(store, creation, 2);
    for (const position of [now, beyond])
      expect((await readAll(store, position, 10)).found).toEqual([`${creation.run_id} 2`]);
    expect(await store.feedPosition('alice', now)).toBe(now);
    expect(await store.feedPosition('alice', 'vx')).toBeUndefined();
  });
}
