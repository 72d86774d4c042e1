import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { removeDeleted } from '../../../../adapters/embedded/sqlite/vacuum.ts';
import { describeMomentStore, gate, newMoment, remember } from '../../../contract/moment-store.contract.ts';
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

test('a deletion leaves no sentence, word or key of a picture of a moment in the files of the database', async () => {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  const database = openDatabase(path);
  const stores = embeddedRuns(database);
  const scenes = Array.from({ length: 300 }, (_, index) => `A quixotic flamingo number ${index} at the gate`);
  await remember(
    stores,
    scenes.map((scene, index) => [newMoment(index * 10, { scene, objects: ['flamingo'] })]),
  );
  const traces = ['flamingo', 'quixot', `moments/3/${gate}`];
  const found = () => {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const bytes = Buffer.concat([readFileSync(path), readFileSync(`${path}-wal`)]);
    return traces.filter((trace) => bytes.includes(trace));
  };
  expect(found()).toEqual(traces);
  const { keys } = await stores.moments.remove(gate, null, 1000);
  expect(keys).toHaveLength(300);
  await removeDeleted(database, async () => undefined);
  expect(found()).toEqual([]);
});
