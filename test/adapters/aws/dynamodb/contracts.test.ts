import { viewRuns } from '../../../support/select-runs.ts';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { onTestFinished } from 'vitest';
import { createMediaStore } from '../../../../adapters/aws/media-store.ts';
import { createCallerUsage } from '../../../../adapters/caller-usage.ts';
import { startS3Server } from '../s3-server.ts';
import { createMeter } from '../../../../adapters/aws/dynamodb/callers/usage.ts';
import { systemBackoff } from '../../../../adapters/retry-with-backoff.ts';
import { dynamoStores, type DynamoStoreSettings } from '../../../../adapters/aws/dynamodb/stores.ts';
import { openTable } from '../../../../adapters/aws/dynamodb/table/open-table.ts';
import { randomUUID } from 'node:crypto';
import { describeCallerEraser } from '../../../contract/caller-eraser.contract.ts';
import { describeCallLimiter } from '../../../contract/call-limiter.contract.ts';
import { describeCallerStore } from '../../../contract/caller-store.contract.ts';
import { describeDeliveryStore } from '../../../contract/delivery-store.contract.ts';
import { describeForgetting } from '../../../contract/forgotten-moments.contract.ts';
import { describeEventSessions } from '../../../contract/event-sessions.contract.ts';
import { describeJobStore } from '../../../contract/job-store.contract.ts';
import { describeKeyStore } from '../../../contract/key-store.contract.ts';
import { describeMeter } from '../../../contract/meter.contract.ts';
import { describeReviewedMoments } from '../../../contract/reviewed-moments.contract.ts';
import { describeMomentStore, remember } from '../../../contract/moment-store.contract.ts';
import { describeUsageLedger } from '../../../contract/usage-ledger.contract.ts';
import { describeRunStore } from '../../../contract/run-store.contract.ts';
import { describeWatchStore } from '../../../contract/watch-store.contract.ts';
import { start } from '../../../contract/records.ts';
import { withDynamoLocal } from './dynamo-local.ts';
import { localClient } from './start-dynamo-local.ts';

withDynamoLocal((makeTable) => {
  const makeStores = async (settings: Partial<DynamoStoreSettings> = {}) =>
    viewRuns(
      dynamoStores({ ...(await makeTable()), now: () => start, retentionSeconds: 3_600, ...settings }),
    );

  describeJobStore('The table', async () => (await makeStores()).jobs);
  const makeStoresWithMedia = async () => {
    const { client, tableName } = await makeTable();
    const stores = viewRuns(dynamoStores({ client, tableName, now: () => start, retentionSeconds: 3_600 }));
    const s3 = await startS3Server();
    onTestFinished(s3.close);
    const media = createMediaStore({
      client: new S3Client({ ...localClient, endpoint: s3.endpoint, forcePathStyle: true }),
      bucket: 'media',
    });
    const log = { warning: () => undefined };
    const usage = createCallerUsage({ ledger: stores.usage, modelPrice: null, log, now: () => start });
    return {
      stores: { ...stores, usage, media },
      readAll: async () => {
        const { Items: items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
        return `${JSON.stringify(items)}\n${s3.readAll()}`;
      },
    };
  };
  describeCallerEraser('The table with S3', makeStoresWithMedia);
  describeForgetting('The table with S3', makeStoresWithMedia);
  describeCallerStore('The table', async () => (await makeStores()).callers);
  describeKeyStore('The table', async () => (await makeStores()).keys);
  describeUsageLedger('The table', makeStores);
  describeDeliveryStore('The table', async () => (await makeStores()).deliveries);
  describeWatchStore('The table', async () => (await makeStores()).watches);
  describeRunStore('The table', makeStores);
  describeMomentStore('The table', async (captures) => {
    const stores = await makeStores();
    await remember(stores, captures);
    return stores.moments;
  });
  describeReviewedMoments('The table', makeStores);
  describeCallLimiter(
    'The table',
    async (callLimits, now) => (await makeStores({ callLimits, now })).limiter,
  );
  describeEventSessions(
    'The table',
    async (eventSessionsPerCaller) => (await makeStores({ eventSessionsPerCaller })).sessions,
  );
  describeMeter('The table', async (since) => {
    const table = openTable({ ...(await makeTable()), newId: randomUUID, ...systemBackoff });
    return createMeter({ table, random: Math.random, since: () => since });
  });
});
