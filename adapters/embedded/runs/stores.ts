import type { DatabaseSync } from 'node:sqlite';
import type { RunStore } from '../../../core/ports/run-store.ts';
import { createJobStore, type EmbeddedJobStore } from './job-store.ts';
import { createMomentStore, type EmbeddedMomentStore } from './moment-store.ts';
import { createRunStore, type Notify } from './run-store.ts';
import { createRunTables } from './run-tables.ts';
import { createWatchStore, type EmbeddedWatchStore } from './watch-store.ts';

/** Stores of runs, and of the resources of the API that they belong to. */
export type EmbeddedRunStores = {
  runs: RunStore;
  jobs: EmbeddedJobStore;
  watches: EmbeddedWatchStore;
  moments: EmbeddedMomentStore;
};

/** Creates the stores of runs on one set of tables. `notify` is called after a log has grown. */
export function createRunStores(database: DatabaseSync, notify: Notify = () => undefined): EmbeddedRunStores {
  const tables = createRunTables(database);
  return {
    runs: createRunStore(database, tables, notify),
    jobs: createJobStore(database, tables),
    moments: createMomentStore(database, tables),
    watches: createWatchStore(database, tables, notify),
  };
}
