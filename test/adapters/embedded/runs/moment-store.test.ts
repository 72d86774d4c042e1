import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { describeMomentStore, remember } from '../../../contract/moment-store.contract.ts';
import { embeddedRuns } from '../../../support/select-runs.ts';
import { createMemoryMoments } from '../../../support/watches/memory-moments.ts';

describeMomentStore('The embedded store', async (captures) => {
  const stores = embeddedRuns(openDatabase(':memory:'));
  await remember(stores, captures);
  return stores.moments;
});

describeMomentStore('The double of tests', async (captures) => createMemoryMoments(captures.flat()));
