import { join } from 'node:path';
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
