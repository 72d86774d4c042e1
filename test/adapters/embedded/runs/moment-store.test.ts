import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWordReader } from '../../../../adapters/embedded/runs/word-reader.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { describeMomentStore, newMoment, remember } from '../../../contract/moment-store.contract.ts';
import { after, start } from '../../../contract/records.ts';
import { newChange } from '../../../contract/watch-records.ts';
import { newWatchConfig } from '../../../support/watches/watch-records.ts';
import { describeReviewedMoments } from '../../../contract/reviewed-moments.contract.ts';
import { embeddedRuns } from '../../../support/select-runs.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

describeMomentStore('The embedded store', async (captures) => {
  const stores = embeddedRuns(openDatabase(':memory:'));
  await remember(stores, captures);
  return stores.moments;
});

describeMomentStore('The embedded store of a file, which a thread searches', async (captures) => {
  const stores = embeddedRuns(openDatabase(join(folderOfTest(), 'watchpost.sqlite')));
  await remember(stores, captures);
  return stores.moments;
});

describeReviewedMoments('The embedded store', () => embeddedRuns(openDatabase(':memory:')));

test('a search in words that takes too long fails, and the next one has a thread of its own', async () => {
  const database = openDatabase(join(folderOfTest(), 'watchpost.sqlite'));
  let isSlow = true;
  const reader = createWordReader(database, (fire) => {
    if (isSlow) fire();
    return () => undefined;
  });
  const span = { caller: 'alice', watches: [], to: new Date() };
  await expect(reader.count(span, new Date())).rejects.toThrow('it took too long');
  isSlow = false;
  expect(await reader.count(span, new Date())).toBe(0);
});

test('a sweep removes what a deletion, or a change to fewer days, has left', async () => {
  const stores = embeddedRuns(openDatabase(':memory:'));
  const ids = { short: randomUUID(), long: randomUUID(), deleted: randomUUID() };
  const config = (memory_days: number) => ({ config: newWatchConfig({ memory_days }) });
  const lasting = { expires_at: after(90 * 86_400).toISOString() };
  for (const [name, id] of Object.entries(ids))
    await remember(
      stores,
      [[newMoment(10, { watch_id: id, ...lasting })], [newMoment(86_400, { watch_id: id, ...lasting })]],
      config(name === 'short' ? 1 : 30),
    );
  const deleted = await stores.watches.get(ids.deleted, start);
  await stores.runs.commit(newChange(deleted!, { set: { deleted_at: start.toISOString() } }));
  expect((await stores.moments.sweep(after(86_400 + 20))).toSorted()).toEqual(
    [
      `moments/3/${ids.short}/10-a0.jpg`,
      `moments/3/${ids.deleted}/10-a0.jpg`,
      `moments/3/${ids.deleted}/86400-a0.jpg`,
    ].toSorted(),
  );
});

test('counts and searches of some watches have their moments, also at the edges of hours and after a removal', async () => {
  const stores = embeddedRuns(openDatabase(':memory:'));
  const ids = Array.from({ length: 5 }, () => randomUUID());
  const seconds = [0, 1_799, 1_800, 1_801, 3_600, 5_400, 9_000, 9_001, 20_000];
  const lasting = { expires_at: after(90 * 86_400).toISOString() };
  for (const watchId of ids)
    await remember(
      stores,
      seconds.map((second) => [newMoment(second, { watch_id: watchId, scene: 'A white van', ...lasting })]),
    );
  const span = (watchIds: string[], from: number, to: number) => ({
    caller: 'alice',
    watches: watchIds.map((watchId) => ({ watchId, from: after(from) })),
    to: after(to),
  });
  const expectCounts = async (stored: number[]) => {
    for (const from of [-7_200, ...seconds])
      for (const to of [...seconds, 20_001, 90_000]) {
        const expected = stored.filter((second) => second >= from && second < to).length;
        expect(await stores.moments.count(span([ids[0]!], from, to), start)).toBe(expected);
      }
  };
  await expectCounts(seconds);
  for (const watchIds of [ids.slice(0, 1), ids.slice(0, 4)]) {
    const stems = { own: ['van'], added: [] };
    const { matches } = await stores.moments.words(span(watchIds, 0, 90_000), stems, 100, start);
    expect(new Set(matches.map(({ watch_id: id }) => id))).toEqual(new Set(watchIds));
    expect(matches).toHaveLength(seconds.length * watchIds.length);
  }
  await stores.moments.remove(ids[0]!, after(5_400), 100);
  await expectCounts([5_400, 9_000, 9_001, 20_000]);
});
