import { viewRuns } from '../../../support/select-runs.ts';
import { newCreation } from '../../../contract/watch-records.ts';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { itemKeys, shardFor } from '../../../../adapters/aws/dynamodb/table/keys.ts';
import { itemTtls } from '../../../../adapters/aws/dynamodb/table/item-ttls.ts';
import { toItems } from '../../../../adapters/aws/dynamodb/runs/run-item.ts';
import { dynamoStores, type DynamoStoreSettings } from '../../../../adapters/aws/dynamodb/stores.ts';
import { repair } from '../../../../adapters/aws/dynamodb/table/table-layout.ts';
import type { ItemKey } from '../../../../adapters/aws/dynamodb/table/table.ts';
import { rules } from '../../../../core/rules.ts';
import type { JobEvent } from '../../../../core/records/event.ts';
import type { Job } from '../../../../core/records/job.ts';
import {
  after,
  begin,
  changed,
  createChange,
  createCreation,
  end,
  idempotency,
  newDigest,
  newJob,
  progress,
  start,
  triggered,
  webhookKey,
} from '../../../contract/records.ts';
import { initialDelivery } from '../../../../core/records/delivery.ts';
import { withDynamoLocal, type TestTable } from './dynamo-local.ts';
import { localClient } from './start-dynamo-local.ts';

const hook = { webhook_url: 'https://receiver.example/hook' };
const epoch = (at: Date) => at.getTime() / 1000;

withDynamoLocal((makeTable) => {
  describe('lost response', () => {
    test('a change whose response is lost is retried by the SDK and committed once', async () => {
      const { table, stores } = await open();
      const job = newJob();
      await stores.jobs.create(createCreation(job), start);
      const line = breakingLine(table, 'TransactWriteItems');
      const { jobs } = viewRuns(dynamoStores({ ...table, client: line.client, now: () => start }));

      expect(await jobs.commit(begin(job))).toBe('committed');

      expect(line.lost()).toBe(1);
      expect(await stores.jobs.events(job.run_id, 0, 10, new Date(0))).toHaveLength(1);
    });
  });

  describe('retention of items', () => {
    test('a job and its source expire one hour after the retention of the job, and not while it is active', async () => {
      const { item, stores } = await open();
      const job = newJob();
      await stores.jobs.create(createCreation(job), start);
      for (const key of [itemKeys.meta(job.run_id), itemKeys.run(job.run_id)])
        expect(await item(key)).not.toHaveProperty('ttl');
      expect(await item(itemKeys.source(job.source_id))).not.toHaveProperty('ttl');

      await stores.jobs.commit(end(job));

      const expired = epoch(after(3_600 + rules.deliveryTtlSeconds));
      for (const key of [itemKeys.meta(job.run_id), itemKeys.run(job.run_id)])
        expect(await item(key)).toHaveProperty('ttl', expired);
      expect(await item(itemKeys.source(job.source_id))).toHaveProperty('ttl', expired);
    });

    test('items of a running job outlive the longest job and its retention', async () => {
      const { item, stores } = await open({ retentionSeconds: 3_600 });
      const job = newJob();
      await stores.jobs.create(createCreation(job, { idempotency: idempotency('key', 'hash') }), start);
      await stores.jobs.commit(createChange(job, [progress, triggered]));
      await stores.deliveries.put(initialDelivery(webhookKey(job.run_id, 2), 'watch_triggered'), start);

      const needed = epoch(after(rules.maxJobDurationSeconds + 3_600 + rules.deliveryTtlSeconds));
      for (const key of [
        itemKeys.event(job.run_id, 1),
        itemKeys.event(job.run_id, 2),
        itemKeys.eventByType(job.run_id, 'watch_triggered', 2),
        itemKeys.delivery(webhookKey(job.run_id, 2)),
      ]) {
        expect((await item(key))?.['ttl']).toBeGreaterThan(needed);
      }
      const record = await item(itemKeys.idempotency('harbour', 'key'));
      expect(record?.['ttl']).toBeGreaterThan(epoch(after(rules.idempotencyKeySeconds)));
    });

    test('the list of active jobs does not contain an ended one', async () => {
      const { item, stores } = await open();
      const job = newJob();
      await stores.jobs.create(createCreation(job), start);
      expect(await item(itemKeys.active(job.run_id))).toBeDefined();

      await stores.jobs.commit(end(job));

      expect(await item(itemKeys.active(job.run_id))).toBeUndefined();
    });

    test('the largest job is far below the 400 kB of an item', async () => {
      const { item, stores } = await open();
      const job = maxDigest();
      await stores.jobs.create(createCreation(job), start);

      const stored = await item(itemKeys.run(job.run_id));

      expect(Buffer.byteLength(JSON.stringify(stored))).toBeLessThan(200_000);
      expect(await stores.jobs.get(job.run_id, start)).toEqual(job);
    });
  });

  describe('repair index', () => {
    test('the repair index contains exactly the active jobs and those with unpublished events', async () => {
      const { indexed, stores } = await open();
      const job = newJob(hook);
      await stores.jobs.create(createCreation(job), start);
      expect(await indexed(job)).toBe(true);

      await stores.jobs.commit(end(job));
      expect(await indexed(job)).toBe(true);
      await stores.jobs.markPublished(job.run_id, 1);
      expect(await indexed(job)).toBe(false);

      const silent = newJob();
      await stores.jobs.create(createCreation(silent), start);
      await stores.jobs.commit(end(silent));
      expect(await indexed(silent)).toBe(false);
    });

    test('the repair index contains a job with an unpublished alert before its newest progress event', async () => {
      const { stores } = await open();
      const job = newJob({ ...hook, lease_until: after(3_600).toISOString() });
      await stores.jobs.create(createCreation(job), start);
      const alert = createChange(job, [triggered]);
      await stores.jobs.commit(alert);
      await stores.jobs.commit(createChange(changed(job, alert), [progress]));

      expect(await stores.jobs.dueForRepair(after(60), 10)).toEqual([job.run_id]);
      await stores.jobs.markPublished(job.run_id, 1);
      expect(await stores.jobs.dueForRepair(after(60), 10)).toEqual([]);
    });

    test('the repair index of a deployment with an event bus contains jobs without a webhook and watches without destinations', async () => {
      const { stores } = await open({ hasBus: true });
      const job = newJob({ lease_until: after(3_600).toISOString() });
      await stores.jobs.create(createCreation(job), start);
      await stores.jobs.commit(createChange(job, [triggered]));
      const watch = newCreation();
      const lease_until = after(3_600).toISOString();
      await stores.watches.create(
        { ...watch, config: { ...watch.config, destinations: [] }, lease_until },
        start,
      );

      const due = async () => (await stores.runs.dueForRepair(after(60), 10)).toSorted();
      expect(await due()).toEqual([job.run_id, watch.run_id].toSorted());
      await stores.jobs.markPublished(job.run_id, 1);
      await stores.watches.markPublished(watch.run_id, 1);
      expect(await due()).toEqual([]);
    });

    test('the repair index returns lost jobs before those with unpublished events', async () => {
      const { stores } = await open();
      const waiting = Array.from({ length: 5 }, () =>
        newJob({ ...hook, lease_until: after(3_600).toISOString() }),
      );
      for (const job of waiting) {
        await stores.jobs.create(createCreation(job), start);
        await stores.jobs.commit(begin(job));
      }
      const lost = newJob();
      await stores.jobs.create(createCreation(lost), start);

      expect((await stores.jobs.dueForRepair(after(61), 6))[0]).toBe(lost.run_id);
    });

    test('the shards of the repair index together have each due job and watch once', async () => {
      const { stores } = await open();
      const jobs = Array.from({ length: 20 }, (_, at) => newJob({ caller: `caller-${at}` }));
      for (const job of jobs) await stores.jobs.create(createCreation(job), start);
      const creation = newCreation();
      await stores.watches.create(creation, start);
      const { repairShards } = stores;

      const due = await repairShards.countDue(after(121), 10);
      const lists = await Promise.all(due.map(({ shard }) => repairShards.listDue(shard, after(121), 10)));

      expect(lists.flat().toSorted()).toEqual([...jobs, creation].map(({ run_id: id }) => id).toSorted());
      expect(due.map(({ entries }) => entries)).toEqual(lists.map(({ length }) => length));
      for (const [at, { shard }] of due.entries())
        for (const id of lists[at]!) expect(shardFor(id)).toBe(shard);
      for (const { entries } of await repairShards.countDue(after(121), 1))
        expect(entries).toBeLessThanOrEqual(2);
    });

    test('the repair index dates a job by its lease or by its first unpublished event', () => {
      const job = newJob({ ...hook, lease_until: after(600).toISOString() });
      const minute = Math.floor(start.getTime() / 60_000);
      const started = { type: 'job_started' as const, sequence: 1, timestamp: after(120).toISOString() };
      const due = (run: Job, events: object[], hasBus = false) =>
        toItems(run, events as JobEvent[], { ttls: itemTtls(), hasBus }).run['repair_due'];
      const ended: Job = { ...job, status: 'stopped' };

      expect(due(job, [])).toBe(minute + 10);
      expect(due(job, [started])).toBe(minute + 2);
      expect(due({ ...job, webhook_url: null }, [started])).toBe(minute + 10);
      expect(due({ ...job, webhook_url: null }, [started], true)).toBe(minute + 2);
      expect(due(ended, [started])).toBe(minute + 2);
      expect(due({ ...ended, published: 1 }, [started])).toBeUndefined();
    });
  });

  describe('crashed functions', () => {
    test('permits of calls of a crashed function expire', async () => {
      const clock = { now: start };
      const { stores } = await open({ now: () => clock.now, callLimits: { perMinute: 0, atOnce: 1 } });
      await stores.limiter.admit('harbour');
      clock.now = after(300);
      expect((await stores.limiter.admit('harbour')).kind).toBe('refused');

      clock.now = after(361);

      expect((await stores.limiter.admit('harbour')).kind).toBe('admitted');
    });

    test('event streams of a crashed function expire, and renewed ones do not', async () => {
      const clock = { now: start };
      const timers: (() => void)[] = [];
      const setTimer = (fire: () => void) => {
        timers.push(fire);
        return () => undefined;
      };
      const { table, stores } = await open({ now: () => clock.now, eventSessionsPerCaller: 2, setTimer });
      const crashed = viewRuns(
        dynamoStores({ ...table, now: () => clock.now, setTimer: () => () => undefined }),
      );
      await stores.sessions.open('harbour');
      await crashed.sessions.open('harbour');
      expect(await stores.sessions.open('harbour')).toBeUndefined();
      expect(await stores.countSessions('harbour')).toBe(2);

      clock.now = after(60);
      timers.shift()?.();
      await until(async () => (await renewals(table)) === 3);
      clock.now = after(91);

      expect(await stores.countSessions('harbour')).toBe(1);
      expect(await stores.countSessions('airport')).toBe(0);
      expect(await stores.sessions.open('harbour')).toBeDefined();
      expect(await stores.sessions.open('harbour')).toBeUndefined();
    });
  });

  describe('disconnected readers of event streams', () => {
    const job = (number: number) => ({ jobId: `job-${number}`, isReconnect: false });

    test('a reconnecting reader evicts the oldest session of its job, which then aborts', async () => {
      const clock = { now: start };
      const timers: (() => void)[] = [];
      const setTimer = (fire: () => void) => {
        timers.push(fire);
        return () => undefined;
      };
      const { stores } = await open({ now: () => clock.now, eventSessionsPerCaller: 3, setTimer });
      const { sessions } = stores;
      const older = await sessions.open('harbour', job(1));
      clock.now = after(1);
      const newer = await sessions.open('harbour', job(1));
      const other = await sessions.open('harbour', job(2));

      expect(await sessions.open('harbour', job(1))).toBeUndefined();
      expect(await sessions.open('harbour', { jobId: 'job-3', isReconnect: true })).toBeUndefined();
      const back = await sessions.open('harbour', { jobId: 'job-1', isReconnect: true });

      for (const renew of timers.splice(0)) renew();
      await until(async () => older?.signal.aborted === true);
      expect([newer, other, back].map((session) => session?.signal.aborted)).toEqual([false, false, false]);
      // An evicted session releases nothing, because its permit belongs to another one.
      await older?.end();
      expect(await sessions.open('harbour', job(4))).toBeUndefined();
    });

    test('sessions belong to the job that their request created', async () => {
      const timers: (() => void)[] = [];
      const setTimer = (fire: () => void) => {
        timers.push(fire);
        return () => undefined;
      };
      const { table, stores } = await open({ eventSessionsPerCaller: 1, setTimer });
      const posted = await stores.sessions.open('harbour');
      posted?.attachJob('job-1');
      timers.shift()?.();
      await until(async () => (await renewals(table)) === 2);

      expect(await stores.sessions.open('harbour', { jobId: 'job-1', isReconnect: true })).toBeDefined();

      timers.shift()?.();
      await until(async () => posted?.signal.aborted === true);
    });
  });

  test('call limits are shared by all functions', async () => {
    const callLimits = { perMinute: 2, atOnce: 0 };
    const { table, stores } = await open({ callLimits });
    const other = viewRuns(dynamoStores({ ...table, now: () => start, callLimits }));

    const kinds = [];
    for (const { limiter } of [stores, other, stores, other])
      kinds.push((await limiter.admit('harbour')).kind);

    expect(kinds).toEqual(['admitted', 'admitted', 'refused', 'refused']);
  });

  test('keys that DynamoDB would reject are not found', async () => {
    const { stores } = await open();
    const long = 'x'.repeat(3_000);

    for (const text of ['', long]) {
      expect(await stores.keys.find(text)).toBeUndefined();
      await stores.keys.revoke(text, start);
      expect(await stores.callers.find(text)).toBeUndefined();
      expect(await stores.callers.list(text, 10)).toEqual([]);
      expect(await stores.callers.replaceSecret(text, 1, { version: 2, previous: [] })).toBe('outdated');
    }
    expect(await stores.jobs.findByIdempotencyKey('harbour', '🔑'.repeat(255), start)).toBeUndefined();
  });

  test('the meter starts at its first count, in every function', async () => {
    const { table, stores } = await open();
    await stores.meter.count({ kind: 'direct_frame' });
    const later = viewRuns(dynamoStores({ ...table, now: () => after(600) }));

    expect(await later.meter.read()).toMatchObject({ startedAt: start, directFrames: 1 });
  });

  test('a failing meter does not fail its caller', async () => {
    const { table } = await open();
    const { meter } = viewRuns(dynamoStores({ ...table, tableName: 'missing', now: () => start }));

    await meter.count({ kind: 'direct_frame' });
  });

  async function open(settings: Partial<DynamoStoreSettings> = {}) {
    const table = await makeTable();
    const stores = viewRuns(dynamoStores({ ...table, now: () => start, ...settings }));
    const item = async (key: ItemKey) =>
      (await table.client.send(new GetCommand({ TableName: table.tableName, Key: key }))).Item;
    const indexed = async (job: Job) => {
      const shards = Array.from({ length: 16 }, (_, shard) =>
        table.client.send(
          new QueryCommand({
            TableName: table.tableName,
            IndexName: repair.name,
            KeyConditionExpression: '#shard = :shard',
            ExpressionAttributeNames: { '#shard': repair.partitionKey.name },
            ExpressionAttributeValues: { ':shard': String(shard) },
          }),
        ),
      );
      const items = (await Promise.all(shards)).flatMap(({ Items = [] }) => Items);
      return items.some(({ pk }) => pk === itemKeys.run(job.run_id).pk);
    };
    return { table, stores, item, indexed };
  }

  async function renewals({ client, tableName }: TestTable): Promise<number> {
    const command = new GetCommand({ TableName: tableName, Key: itemKeys.eventSessions('harbour') });
    return (await client.send(command)).Item?.['version'];
  }
});

/** Client that loses the first response of this operation after it took effect. */
function breakingLine({ client }: TestTable, operation: string) {
  const { requestHandler, endpoint } = client.config;
  let lost = 0;
  const handle: typeof requestHandler.handle = async (request, options) => {
    const answer = await requestHandler.handle(request, options);
    if (lost > 0 || !String(request.headers['x-amz-target']).endsWith(operation)) return answer;
    lost += 1;
    throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  };
  const config: DynamoDBClientConfig = { ...localClient, requestHandler: { handle } };
  if (endpoint) config.endpoint = endpoint;
  return { client: new DynamoDBClient(config), lost: () => lost };
}

/** Job with every list at its maximum, five windows without a summary, and texts of four bytes per character. */
function maxDigest() {
  const sample = {
    frame_key: `captures/${crypto.randomUUID()}/99999-${'a'.repeat(36)}.jpg`,
    captured_at: start.toISOString(),
  };
  const window = {
    index: 1_000,
    frames_captured: 10_000,
    skipped: { no_motion: 1_000, frozen: 1_000, black: 1_000, repeated: 1_000 },
    samples: Array.from({ length: rules.maxSamplesPerWindow }, () => sample),
  };
  const gap = { from: start.toISOString(), to: after(60).toISOString(), reason: 'stream' as const };
  const digest = newDigest();
  return {
    ...digest,
    stream_url: '🚢'.repeat(500),
    webhook_url: '🚢'.repeat(2_083),
    sight: { ...digest.sight, gaps: Array.from({ length: rules.maxCoverageGaps }, () => gap) },
    state: { ...digest.state, windows: Array.from({ length: 5 }, () => window) },
  };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 1_000; looks += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The condition was never met');
}
