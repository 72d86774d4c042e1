import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createKeyStore } from '../../../adapters/embedded/key-store.ts';
import { describeKeyStore } from '../../contract/key-store.contract.ts';

describeKeyStore('The embedded store', async () => createKeyStore(openDatabase(':memory:')));
