import { createCallerStore } from '../../../adapters/embedded/caller-store.ts';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { describeCallerStore } from '../../contract/caller-store.contract.ts';

describeCallerStore('The embedded store', async () => createCallerStore(openDatabase(':memory:')));
