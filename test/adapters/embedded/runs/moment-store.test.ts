import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWordReader } from '../../../../adapters/embedded/runs/word-reader.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { describeMomentStore, remember } from '../../../contract/moment-store.contract.ts';
import { describeReviewedMoments } from '../../../contract/reviewed-moments.contract.ts';
import { embeddedRuns } from '../../../support/select-runs.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';
import { createMemoryMoments } from '../../../support/watches/memory-moments.ts';

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

describeMomentStore('The double of tests', async (captures) => createMemoryMoments(captures.flat()));

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
