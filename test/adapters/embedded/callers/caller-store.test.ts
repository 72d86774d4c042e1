import { createCallerStore } from '../../../../adapters/embedded/callers/caller-store.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { describeCallerStore } from '../../../contract/caller-store.contract.ts';

describeCallerStore('The embedded store', async () => createCallerStore(openDatabase(':memory:')));
