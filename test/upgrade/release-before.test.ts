import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { createCallerStore } from '../../adapters/embedded/caller-store.ts';
import { openDatabase } from '../../adapters/embedded/database.ts';
import { createDeliveryQueue } from '../../adapters/embedded/delivery-queue.ts';
import { createDeliveryStore } from '../../adapters/embedded/delivery-store.ts';
import { createJobStore } from '../../adapters/embedded/job-store.ts';
import { createKeyStore } from '../../adapters/embedded/key-store.ts';
import { createWatchStore } from '../../adapters/embedded/watch-store.ts';
import { createExecutionStore, migrateExecutions } from '../../adapters/embedded/workflow/execution-store.ts';
import type { CallerStore } from '../../core/ports/caller-store.ts';
import type { DeliveryStore } from '../../core/ports/delivery.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { KeyStore } from '../../core/ports/key-store.ts';
import type { WatchStore } from '../../core/ports/watch-store.ts';
import { createCollectedLog } from '../adapters/embedded/collected-log.ts';
import { createFakeTime } from '../adapters/embedded/fake-time.ts';
import { folderOfTest } from '../support/temporary-folder.ts';
import { withDynamoLocal } from '../adapters/aws/dynamodb/dynamo-local.ts';
import { createChange, progress, start } from '../contract/records.ts';
import { newCreation } from '../contract/watch-records.ts';

/** Written by the code of the release before watches (commit a00ed1f4) with `write-fixture.ts.txt`. */
const fixture = JSON.parse(readFileSync(new URL('release-before.json', import.meta.url), 'utf8'));

type Stores = {
  jobs: JobStore;
  keys: KeyStore;
  callers: CallerStore;
  deliveries: DeliveryStore;
  watches: WatchStore;
};

test('a data folder of the release before opens with its jobs, keys, callers and deliveries, and takes new jobs and watches', async () => {
  const database = openDatabase(writeDatabase());
  migrateExecutions(database);
  await expectEverything(fixture.embedded, {
    jobs: createJobStore(database),
    keys: createKeyStore(database),
    callers: createCallerStore(database),
    deliveries: createDeliveryStore(database),
    watches: createWatchStore(database),
  });
  database.close();
});

test('a queued message and a running execution of the release before continue', async () => {
  const database = openDatabase(writeDatabase());
  migrateExecutions(database);
  const { job_id: jobId } = fixture.embedded.jobs[0];
  const time = createFakeTime(start);
  const log = createCollectedLog();
  const handled: unknown[] = [];
  const queue = createDeliveryQueue({ database, now: time.now, setTimer: time.setTimer, log });
  queue.consume(async (message) => {
    handled.push(message);
    return { kind: 'done' };
  });
  await time.pass(1);

  expect(handled).toEqual([{ job_id: jobId, sequence: 2, resend: 0, attempt: 0 }]);
  expect(createExecutionStore(database).running()).toMatchObject([
    { input: { job_id: jobId, generation: 0 }, progress: { status: 'running', state: 'Begin' } },
  ]);
  database.close();
});

withDynamoLocal((makeTable) => {
  test('a table of the release before opens with its jobs, keys, callers and deliveries, and takes new jobs and watches', async () => {
    const table = await makeTable();
    for (const item of fixture.aws.items)
      await table.client.send(new PutItemCommand({ TableName: table.tableName, Item: item }));

    await expectEverything(fixture.aws, dynamoStores({ ...table, now: () => start }));
  });
});

/** Requires each record with the fields that the release before has written, and commits to the running job. */
async function expectEverything(written: typeof fixture.aws, stores: Stores): Promise<void> {
  const { jobs, keys, callers, deliveries, watches } = stores;
  for (const job of written.jobs) expect(await jobs.get(job.job_id, start)).toMatchObject(job);
  const [{ job_id: jobId }] = written.jobs;
  expect(await jobs.events(jobId, 0, 100)).toMatchObject(written.events);
  // Its scopes are widened to those that it stands for now.
  expect(await keys.find(written.key.hash)).toMatchObject({
    ...written.key,
    scopes: ['read', 'jobs', 'keys'],
  });
  expect(await callers.find('harbour')).toMatchObject(written.caller);
  expect(await deliveries.get(jobId, 2)).toMatchObject(written.delivery);

  const running = await jobs.get(jobId, start);
  expect(await jobs.commit(createChange(running!, [progress]))).toBe('committed');
  expect(await jobs.events(jobId, 0, 100)).toHaveLength(written.events.length + 1);
  const creation = newCreation();
  expect(await watches.create(creation, start)).toEqual({ kind: 'created' });
  expect(await watches.get(creation.watch.watch_id)).toEqual({ watch: creation.watch, run: creation.run });
}

/** Writes the database of the fixture. */
function writeDatabase(): string {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  const database = new DatabaseSync(path);
  const { schema, tables, version } = fixture.embedded;
  for (const sql of schema) database.exec(sql);
  for (const [table, rows] of Object.entries<Record<string, string>[]>(tables)) {
    for (const row of rows) {
      const columns = Object.keys(row);
      const values = columns.map((column) => `:${column}`).join(', ');
      database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`).run(row);
    }
  }
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
  return path;
}
