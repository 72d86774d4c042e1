import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createDeliveryStore } from '../../../adapters/embedded/delivery-store.ts';
import { describeDeliveryStore } from '../../contract/delivery-store.contract.ts';

describeDeliveryStore('The embedded store', async () => createDeliveryStore(openDatabase(':memory:')));
