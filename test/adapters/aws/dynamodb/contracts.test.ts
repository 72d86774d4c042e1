import { describeCallerStore } from '../../../contract/caller-store.contract.ts';
import { describeDeliveryStore } from '../../../contract/delivery-store.contract.ts';
import { describeJobStore } from '../../../contract/job-store.contract.ts';
import { describeKeyStore } from '../../../contract/key-store.contract.ts';
import { dynamoStores } from '../../../../adapters/aws/dynamodb/stores.ts';
import { start } from '../../../contract/records.ts';
import { withDynamoLocal } from './dynamo-local.ts';

withDynamoLocal((makeTable) => {
  const makeStores = async () =>
    dynamoStores({ ...(await makeTable()), now: () => start, retentionSeconds: 3_600 });

  describeJobStore('The table', async () => (await makeStores()).jobs);
  describeCallerStore('The table', async () => (await makeStores()).callers);
  describeKeyStore('The table', async () => (await makeStores()).keys);
  describeDeliveryStore('The table', async () => (await makeStores()).deliveries);
});
