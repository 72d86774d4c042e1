import { watchSchema } from '../../../../core/records/watch.ts';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { restoreDeliveryItem } from '../../../../adapters/aws/dynamodb/restore/restored-items.ts';
import { dynamoStores, type DynamoStores } from '../../../../adapters/aws/dynamodb/stores.ts';
import { restoreTable, type RestoreTableOptions } from '../../../../cli/commands/restore-table.ts';
import { repairDue } from '../../../../core/workflow/repair.ts';
import { newCaller } from '../../../../core/records/caller.ts';
import { webhookKey, webhookMessage } from '../../../contract/records.ts';
import { initialDelivery } from '../../../../core/records/delivery.ts';
import type { QueueMessage } from '../../../../core/records/delivery.ts';
import type { ExecutionInput } from '../../../../core/records/workflow.ts';
import { newKey } from '../../../contract/key-store.contract.ts';
import {
  after,
  begin,
  changed,
  createChange,
  createCreation,
  end,
  newJob,
  progress,
  start,
  triggered,
} from '../../../contract/records.ts';
import { logged, newAlert, newChange, newCreation, opened } from '../../../contract/watch-records.ts';
import { withDynamoLocal, type TestTable } from './dynamo-local.ts';
import { localClient } from './start-dynamo-local.ts';

const hook = { webhook_url: 'https://receiver.example/hook' };
/** Time of the restore: an hour after the backup. */
const restoredAt = after(3600);

withDynamoLocal((makeTable) => {
  describe('a deployment that lost its table', () => {
    test('a rehearsed restore brings back callers, keys, watches with their open alerts, and jobs', async () => {
      const { live, world, restore } = await lostTable();

      const printed = await restore({ yes: true });

      expect(await live.keys.find(world.key.hash)).toEqual(world.key);
      expect((await live.keys.list({ caller: 'harbour', limit: 9 })).map(({ hash }) => hash)).toEqual([
        world.key.hash,
      ]);
      expect(await live.keys.create(newKey({ caller: 'harbour' }), 1)).toBe('full');
      expect(await live.callers.find('harbour')).toEqual(world.caller);
      expect((await live.watches.list('harbour')).map((watch) => watchSchema.parse(watch))).toEqual([
        watchSchema.parse(world.watch),
      ]);
      expect(await live.watches.secrets(world.watch.run_id)).toEqual(world.secrets);
      expect(await live.watches.alerts({ caller: 'harbour', state: 'open', limit: 9 }, restoredAt)).toEqual([
        world.alert,
      ]);
      expect(await live.jobs.get(world.ended.run_id, restoredAt)).toMatchObject({ status: 'stopped' });
      expect(await live.jobs.events(world.running.run_id, 0, 10, new Date(0))).toHaveLength(2);
      expect(await live.jobs.countActive('harbour')).toBe(1);
      expect(printed).toContain(`  ${world.watch.run_id} of harbour: Gate, active`);
    });

    test('no event from before the backup reaches the queue again, and jobs and watches run in new executions', async () => {
      const { live, world, restore } = await lostTable();
      await restore({ yes: true });

      const { started, sent } = await runReconcile(live);

      const [job, watch] = [world.running.run_id, world.watch.run_id];
      expect(started.map(({ job_id: id }) => id).toSorted()).toEqual([job, watch].toSorted());
      // Executions of the lost hour have names with lower numbers, which Step Functions keeps for 90 days.
      for (const { generation } of started) expect(generation).toBeGreaterThan(1_000_000);
      expect(sent).toEqual([]);
    });

    test('events, alerts and their ids after a restore differ from those of the lost time', async () => {
      const { live, world, restore } = await lostTable();
      const before = { job: world.running.sequence, openings: world.watch.state.openings };
      await restore({ yes: true });

      const job = await live.jobs.get(world.running.run_id, restoredAt);
      const stored = await live.watches.get(world.watch.run_id, new Date(0));

      expect(job!.sequence).toBeGreaterThan(before.job + 1_000_000);
      expect(stored!.sequence).toBeGreaterThan(1_000_000);
      expect(stored!.state.openings).toBeGreaterThan(before.openings + 1_000_000);
      const next = createChange(job!, [triggered]);
      expect(await live.jobs.commit(next)).toBe('committed');
      const { sent } = await runReconcile(live);
      expect(sent).toEqual([webhookMessage(world.running.run_id, job!.sequence + 1)]);
    });

    test('a job whose time was over at the restore is not restored, because its last event was sent', async () => {
      const { live, world, restore } = await lostTable();
      const printed = await restore({ yes: true });
      expect(await live.jobs.getIncludingEnded(world.over.run_id)).toBeUndefined();
      expect(printed).toContain('  jobs          2 to add, 0 present, 1 ended');
    });

    test('a restore that is interrupted at any write is completed by the next one', async () => {
      const { tables, live, world, restore } = await lostTable();
      const whole = await makeTable();
      await restore({ yes: true, table: whole.tableName });
      for (const writes of [1, 9]) {
        const line = failingLine(tables.live, writes);
        await expect(restore({ yes: true }, line)).rejects.toThrow('interrupted');
        // A watch is found with its configuration, or not at all.
        for (const watch of await live.watches.list('harbour'))
          expect([watchSchema.parse(watch), watch.published]).toEqual([
            watchSchema.parse(world.watch),
            watch.sequence,
          ]);
      }
      await restore({ yes: true });
      expect(await readAll(tables.live)).toEqual(await readAll(whole));
    });
  });

  describe('a deployment that lost some items', () => {
    test('items of the live table keep their content, and a second restore adds nothing', async () => {
      const { tables, world, restore } = await damagedTable();
      const before = await readAll(tables.live);

      await restore({ yes: true });

      const afterwards = await readAll(tables.live);
      const lists = /^CALLER#harbour (WATCHES|SLOTS|GOOD_KEYS)$/;
      for (const [key, item] of before)
        if (!lists.test(key)) expect([key, afterwards.get(key)]).toEqual([key, item]);
      expect(afterwards.has(`RUN#${world.watch.run_id} RUN`)).toBe(true);
      expect(await restore({ yes: true })).toContain('Added 0 items');
      expect(await readAll(tables.live)).toEqual(afterwards);
    });

    test('a watch is restored if the backup or the live table has another version of its configuration', async () => {
      const { tables, live, world, restore } = await damagedTable();
      const meta = (await readAll(tables.backup)).get(`RUN#${world.watch.run_id} META`);
      await openDocuments(tables.live).send(
        new PutCommand({ TableName: tables.live.tableName, Item: { ...meta, meta_version: 7 } }),
      );
      await restore({ yes: true });
      expect(await live.watches.get(world.watch.run_id, new Date(0))).toMatchObject({ status: 'active' });
    });

    test('a key that was revoked after the backup stays revoked', async () => {
      const { live, world, restore } = await damagedTable();
      await restore({ yes: true });
      expect((await live.keys.find(world.key.hash))?.revoked_at).toBe(after(1800).toISOString());
    });

    test('a restore without --yes prints the plan and changes nothing', async () => {
      const { tables, world, restore } = await damagedTable();
      const before = await readAll(tables.live);
      expect(await restore({})).toContain(`Watches that continue:\n  ${world.watch.run_id}`);
      expect(await readAll(tables.live)).toEqual(before);
    });

    test('a restore leaves out the ids and callers that --except names', async () => {
      const { live, world, restore } = await damagedTable();
      await restore({ yes: true, except: [world.watch.run_id] });
      expect(await live.watches.list('harbour')).toEqual([]);
      expect(await live.watches.alerts({ caller: 'harbour', limit: 9 }, restoredAt)).toEqual([]);
      const empty = await makeTable();
      await restore({ yes: true, table: empty.tableName, except: ['harbour'] });
      expect([...(await readAll(empty)).keys()].filter((key) => key.includes('harbour'))).toEqual([]);
    });
  });

  test.each([
    [{ stack: undefined, table: undefined }, 'either --stack or --table'],
    [{ stack: 'Watchpost-prod' }, 'either --stack or --table'],
    [{ fromTable: 'no-such-table' }, 'Check AWS_PROFILE'],
  ])('options that cannot be used are rejected with the next step: %j', async (options, remediation) => {
    const { restore } = await lostTable();
    await expect(restore(options)).rejects.toMatchObject({
      remediation: expect.stringContaining(remediation),
    });
  });

  test('a backup of a table with the layout of an earlier version is refused with the way out', async () => {
    const { tables, restore } = await lostTable();
    await openDocuments(tables.backup).send(
      new PutCommand({ TableName: tables.backup.tableName, Item: { pk: 'JOB#1', sk: 'META' } }),
    );
    await expect(restore({ yes: true })).rejects.toThrow('Restore it with the version that wrote it');
  });

  test('the live table is not restored from itself', async () => {
    const { tables, restore } = await lostTable();
    await expect(restore({ fromTable: tables.live.tableName })).rejects.toThrow('is the live table itself');
  });

  /** A deployment whose table is empty, and the backup that AWS restored. */
  async function lostTable() {
    const backup = await makeTable();
    const world = await fill(openStores(backup, start));
    const live = await makeTable();
    return { world, ...open(backup, live) };
  }

  /** A deployment that ran on for half an hour, lost a watch and a job, and revoked a key. */
  async function damagedTable() {
    const backup = await makeTable();
    const stores = openStores(backup, start);
    const world = await fill(stores);
    const live = await makeTable();
    const lost = (key: string) => key.includes(world.watch.run_id) || key.includes(world.alert.alert_id);
    for (const [key, item] of await readAll(backup))
      if (!lost(key))
        await openDocuments(live).send(new PutCommand({ TableName: live.tableName, Item: item }));
    const { keys, jobs } = openStores(live, after(1800));
    await keys.revoke(world.key.hash, after(1800));
    await jobs.commit(createChange(world.running, [progress]));
    await openDocuments(live).send(
      new PutCommand({ TableName: live.tableName, Item: { pk: 'CALLER#harbour', sk: 'WATCHES' } }),
    );
    return { world, ...open(backup, live) };
  }

  function open(backup: TestTable, live: TestTable) {
    const restore = async (options: Partial<RestoreTableOptions>, client = live.client) => {
      const lines: string[] = [];
      const terminal = {
        print: (line: string) => void lines.push(line),
        note: (line: string) => void lines.push(line),
        waiting: () => ({ update: () => {}, done: () => {} }),
      };
      const target = { fromTable: backup.tableName, table: live.tableName };
      const given = { ...target, except: [], yes: false, json: false, ...options };
      await restoreTable(given, { terminal, now: () => restoredAt, client });
      return lines.join('\n');
    };
    return { tables: { backup, live }, live: openStores(live, restoredAt), restore };
  }
});

test('a delivery that was pending at the backup has failed, because its message is lost', () => {
  const pending = initialDelivery(webhookKey(randomUUID(), 3), 'watch_triggered');
  const item = restoreDeliveryItem({ record: JSON.stringify(pending) });
  expect(JSON.parse(String(item['record']))).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('restored from a backup'),
  });
  const delivered = { record: JSON.stringify({ ...pending, state: 'delivered' }) };
  expect(restoreDeliveryItem(delivered)).toEqual(delivered);
});

/** Fills a table with what a deployment has: a caller, keys, jobs in each state, a watch with an open alert. */
async function fill(stores: DynamoStores) {
  const caller = newCaller('harbour', 'The port', start);
  await stores.callers.add(caller);
  const key = newKey({ caller: 'harbour', label: 'gate' });
  await stores.keys.put(key);
  const revoked = newKey({ caller: 'harbour' });
  await stores.keys.put(revoked);
  await stores.keys.revoke(revoked.hash, after(1));

  const fresh = newJob({ ...hook });
  await stores.jobs.create(createCreation(fresh), start);
  const longBegin = begin(fresh);
  const toDeadline = { ...longBegin, set: { ...longBegin.set, deadline: after(80_000).toISOString() } };
  await stores.jobs.commit(toDeadline);
  const started = changed(fresh, toDeadline);
  const alerting = createChange(started, [triggered]);
  await stores.jobs.commit(alerting);
  const running = changed(started, alerting);
  await stores.jobs.markPublished(running.run_id, 1);

  const short = newJob({ ...hook });
  await stores.jobs.create(createCreation(short), start);
  await stores.jobs.commit(begin(short));
  const ended = newJob();
  await stores.jobs.create(createCreation(ended), start);
  await stores.jobs.commit(end(ended, after(3000)));

  const watch = newCreation({ caller: 'harbour' });
  await stores.watches.create(watch, start);
  const { secrets } = watch;
  const alert = newAlert(watch);
  await stores.watches.commit(
    newChange(watch, {
      set: { sequence: 2 },
      events: logged(watch, [opened(alert)], 1),
      alerts: [{ kind: 'open', alert }],
    }),
  );
  return { caller, key, running, over: short, ended, watch, secrets, alert };
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
  await repairDue(deps.jobs, deps, due);
  await repairDue(deps.watches, deps, due);
  return { started, sent };
}

function openStores({ client, tableName }: TestTable, at: Date): DynamoStores {
  return dynamoStores({ client, tableName, now: () => at });
}

function openDocuments({ client }: TestTable): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Reads a table as AWS copies it, by key. */
async function readAll(table: TestTable): Promise<Map<string, any>> {
  const { Items: items = [] } = await openDocuments(table).send(
    new ScanCommand({ TableName: table.tableName }),
  );
  return new Map(
    items
      .map((item): [string, any] => [`${item['pk']} ${item['sk']}`, item])
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Returns a client whose requests fail after a number of writes. */
function failingLine({ client }: TestTable, writes: number): DynamoDBClient {
  const { requestHandler, endpoint } = client.config;
  let left = writes;
  const handle: typeof requestHandler.handle = async (request, options) => {
    const target = String(request.headers['x-amz-target']);
    if (/PutItem|TransactWriteItems/.test(target)) {
      left -= 1;
      if (left < 0) throw Object.assign(new Error('Access denied'), { name: 'AccessDeniedException' });
    }
    await sleep(0);
    return requestHandler.handle(request, options);
  };
  const config: DynamoDBClientConfig = { ...localClient, requestHandler: { handle }, maxAttempts: 1 };
  if (endpoint) config.endpoint = endpoint;
  return new DynamoDBClient(config);
}
