import { UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { dynamoStores, type DynamoStores } from '../../../../adapters/aws/dynamodb/stores.ts';
import { parseRecord } from '../../../../adapters/aws/dynamodb/table/record.ts';
import { ttlAttribute } from '../../../../adapters/aws/dynamodb/table/table-layout.ts';
import { restoreTable } from '../../../../cli/commands/restore-table.ts';
import { initialDestinationState } from '../../../../core/delivery/destination-state.ts';
import { initialDelivery, type QueueMessage } from '../../../../core/records/delivery.ts';
import type { ExecutionInput } from '../../../../core/records/workflow.ts';
import { asJob, asWatch } from '../../../../core/records/run.ts';
import { rules } from '../../../../core/rules.ts';
import { repairDue } from '../../../../core/workflow/repair.ts';
import {
  after,
  begin,
  changed,
  createChange,
  createCreation,
  end,
  newJob,
  start,
  triggered,
  webhookKey,
  webhookMessage,
} from '../../../contract/records.ts';
import { logged, newAlert, newChange, newCreation, opened } from '../../../contract/watch-records.ts';
import { withDynamoLocal, type TestTable } from './dynamo-local.ts';

/** Time of the restore: an hour after the backup. */
const restoredAt = after(3600);

withDynamoLocal((makeTable) => {
  describe('a table that AWS restored', () => {
    test('a restored table keeps jobs, watches, secrets and open alerts', async () => {
      const { stores, world } = await restored();
      expect(await stores.runs.get(world.ended.run_id, restoredAt)).toMatchObject({ status: 'stopped' });
      expect(await stores.runs.events(world.running.run_id, 0, 10, new Date(0))).toHaveLength(2);
      const { jobs } = await stores.jobs.list(
        { caller: world.running.caller, limit: 9, offset: 0 },
        restoredAt,
      );
      expect(jobs.map(({ run_id: id }) => id).toSorted()).toEqual(
        [world.running.run_id, world.ended.run_id].toSorted(),
      );
      expect(await stores.watches.list('harbour')).toHaveLength(1);
      expect(await stores.runs.secrets(world.watch.run_id)).toEqual(world.addresses);
      expect(await stores.watches.alerts({ caller: 'harbour', state: 'open', limit: 9 }, restoredAt)).toEqual(
        [world.alert],
      );
    });

    test('jobs and watches of a restored table run in new executions, and no event of the backup is sent again', async () => {
      const { stores, world } = await restored();
      const { started, sent } = await runReconcile(stores);
      const [job, watch] = [world.running.run_id, world.watch.run_id];
      expect(started.map(({ run_id: id }) => id).toSorted()).toEqual([job, watch].toSorted());
      // Executions of the lost hour have names with lower numbers, which Step Functions keeps for 90 days.
      for (const { generation } of started) expect(generation).toBeGreaterThan(1_000_000);
      expect(sent).toEqual([]);
    });

    test('sequences and ids of alerts continue above those of the lost time', async () => {
      const { stores, world } = await restored();
      const job = asJob(await stores.runs.get(world.running.run_id, restoredAt))!;
      const watch = asWatch(await stores.runs.get(world.watch.run_id, new Date(0)))!;
      expect([job.sequence, watch.sequence, watch.state.openings]).toEqual([
        world.running.sequence + rules.restoredJump,
        2 + rules.restoredJump,
        world.watch.state.openings + rules.restoredJump,
      ]);
      expect(await stores.runs.commit(createChange(job, [triggered]))).toBe('committed');
      const { sent } = await runReconcile(stores);
      expect(sent).toEqual([webhookMessage(job.run_id, job.sequence + 1)]);
    });

    test('a delivery that was pending at the backup has failed, because its message is lost', async () => {
      const { stores, world } = await restored();
      expect(await stores.deliveries.get(webhookKey(world.running.run_id, 1))).toMatchObject({
        state: 'failed',
        error: expect.stringContaining('restored from a backup'),
      });
      expect(await stores.deliveries.get(webhookKey(world.running.run_id, 2))).toMatchObject({
        state: 'delivered',
      });
      expect(await stores.deliveries.state(world.destination)).toMatchObject({ waiting: [] });
    });

    test('a second command prepares a table if the first one was interrupted', async () => {
      const { table, stores, world } = await restored();
      await restoreTable(table.tableName, { terminal, now: () => after(3630), client: table.client });
      const job = await stores.runs.get(world.running.run_id, restoredAt);
      expect(job).toMatchObject({ status: 'running', sequence: job!.published });
      expect((await runReconcile(stores)).started).toHaveLength(2);
    });
  });

  test('the table of a deployment is not prepared as a restored one', async () => {
    const table = await makeTable();
    const { client, tableName } = table;
    const TimeToLiveSpecification = { AttributeName: ttlAttribute, Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }));
    await expect(prepare(table)).rejects.toMatchObject({
      message: `${tableName} is the table of a deployment: it has a TTL`,
      remediation: 'Name the table that AWS restored, before it has one.',
    });
  });

  test('a table that does not exist, and one with records of another version, are refused with the way out', async () => {
    const table = await makeTable();
    const remediation = expect.stringContaining('this release wrote the backup');
    await expect(prepare({ ...table, tableName: 'no-such-table' })).rejects.toMatchObject({ remediation });
    await DynamoDBDocumentClient.from(table.client).send(
      new PutCommand({ TableName: table.tableName, Item: { pk: 'RUN#1', sk: 'RUN', record: '{}' } }),
    );
    await expect(prepare(table)).rejects.toMatchObject({ remediation });
  });

  test.each([
    ['a monitor without its state', 'running', 'RUN', 'state'],
    ['a monitor without its configuration', 'running', 'META', 'config'],
    ['a source without its mode', 'source', 'META', 'input_mode'],
  ] as const)('records of another version are refused before any change: %s', async (_, owner, sk, field) => {
    const table = await makeTable();
    const world = await fill(openStores(table, start));
    const documents = DynamoDBDocumentClient.from(table.client);
    const key =
      owner === 'source'
        ? { pk: `SOURCE#${world.watch.source_id}`, sk }
        : { pk: `RUN#${world[owner].run_id}`, sk };
    const scan = async () => (await documents.send(new ScanCommand({ TableName: table.tableName }))).Items!;
    const item = (await scan()).find(({ pk, sk: sort }) => pk === key.pk && sort === sk)!;
    const { [field]: removed, ...record } = parseRecord(item) as Record<string, unknown>;
    expect(removed).toBeDefined();
    const Item = { ...item, record: JSON.stringify(record) };
    await documents.send(new PutCommand({ TableName: table.tableName, Item }));
    const before = await scan();
    await expect(prepare(table)).rejects.toMatchObject({
      message: expect.stringContaining('another version of Watchpost, or damaged'),
    });
    expect(await scan()).toEqual(before);
  });

  /** A table as AWS restores it, an hour after the backup, once it is prepared. */
  async function restored() {
    const table = await makeTable();
    const world = await fill(openStores(table, start));
    await prepare(table);
    return { table, world, stores: openStores(table, restoredAt) };
  }
});

const terminal = { print: () => {} };

function prepare({ client, tableName }: TestTable): Promise<void> {
  return restoreTable(tableName, { terminal, now: () => restoredAt, client });
}

/** Fills a table with what a deployment has: jobs, deliveries, a watch with an open alert. */
async function fill(stores: DynamoStores) {
  const fresh = newJob({ webhook_url: 'https://receiver.example/hook' });
  await stores.jobs.create(createCreation(fresh), start);
  const started = begin(fresh);
  const late = after(80_000).toISOString();
  const toDeadline = { ...started, set: { ...started.set, deadline: late, lease_until: late } };
  await stores.runs.commit(toDeadline);
  const alerting = createChange(changed(fresh, toDeadline), [triggered]);
  await stores.runs.commit(alerting);
  const running = changed(changed(fresh, toDeadline), alerting);
  await stores.runs.markPublished(running.run_id, 1);
  await stores.deliveries.put(initialDelivery(webhookKey(running.run_id, 1), 'job_started'), start);
  const delivered = {
    ...initialDelivery(webhookKey(running.run_id, 2), 'watch_triggered'),
    state: 'delivered',
  };
  await stores.deliveries.put(delivered as ReturnType<typeof initialDelivery>, start);

  const ended = newJob();
  await stores.jobs.create(createCreation(ended), start);
  await stores.runs.commit(end(ended, after(80_000)));

  const created = newCreation({ caller: 'harbour' });
  await stores.watches.create(created, start);
  const watch = created;
  const alert = newAlert(watch);
  const alerts = [{ kind: 'open' as const, alert }];
  const events = logged(watch, [opened(alert)], 1);
  await stores.runs.commit(newChange(watch, { set: { sequence: 2 }, events, alerts }));
  const destination = { run: 'watch', run_id: watch.run_id, destination_id: 'team' } as const;
  const waiting = [{ sequence: 1, subject: 'stream', attempts: 1, resend: 0 }];
  const state = { ...initialDestinationState({ ...destination, fingerprint: 'f1' }), waiting };
  await stores.deliveries.changeState(state, () => state);
  return { running, ended, watch, addresses: created.secrets, alert, destination: state };
}

/** Runs the function `reconcile` a minute after the restore. Returns what it starts and sends. */
async function runReconcile(stores: DynamoStores) {
  const started: ExecutionInput[] = [];
  const sent: QueueMessage[] = [];
  const now = () => after(3660);
  const log = { debug() {}, info() {}, warning() {}, error() {}, with: () => log };
  const executions = {
    start: async (input: ExecutionInput) => {
      started.push(input);
      return 'started' as const;
    },
    stop: async () => {},
    status: async () => undefined,
    runsHere: () => false,
  };
  const queue = { send: async (message: QueueMessage) => void sent.push(message) };
  const deps: any = { ...stores, executions, queue, log, now, limits: { retentionSeconds: 3600 } };
  const due = { dueBy: now(), limit: 100 };
  await repairDue(deps, due);
  return { started, sent };
}

function openStores({ client, tableName }: TestTable, at: Date): DynamoStores {
  return dynamoStores({ client, tableName, now: () => at });
}
