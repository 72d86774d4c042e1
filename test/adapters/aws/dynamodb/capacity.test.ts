import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { publishCommits } from '../../../../core/delivery/publish.ts';
import { createCallerUsage } from '../../../../adapters/caller-usage.ts';
import { dynamoStores } from '../../../../adapters/aws/dynamodb/stores.ts';
import { meteredVision } from '../../../../adapters/vision/metered-vision.ts';
import { units } from '../../../../adapters/aws/usage-units.ts';
import { newCaller } from '../../../../core/records/caller.ts';
import { createMonitor } from '../../../support/create-jobs.ts';
import { createWorld, monitorRequest } from '../../../support/world.ts';
import { createWatch, stored, watchId, world } from '../../../support/watches/watch-world.ts';
import { addSeconds } from '../../../../core/time.ts';
import { newMoment } from '../../../contract/moment-store.contract.ts';
import { start } from '../../../contract/records.ts';
import { withDynamoLocal } from './dynamo-local.ts';

/**
 * Capacity units of docs/contribute/storage.md, as counted by DynamoDB Local. It counts index writes in a transaction
 * twice, and writes of compressed records in a transaction too low: `run-item.test.ts` has their size.
 */
withDynamoLocal((makeTable) => {
  describe('capacity of a minute with six ticks', () => {
    test('a monitor without a webhook uses the units of the cost estimate, and writes the repair index once', async () => {
      const { minute } = await createWatching({});

      const { reads, writes, indexWrites } = await minute();

      expect(reads / 6).toBe(units.tick.readUnits);
      expect(Math.ceil(writes / 6)).toBeLessThanOrEqual(units.tick.writeUnits);
      // Its due time is in whole minutes.
      expect(indexWrites).toBe(4);
    });

    test('a monitor with a webhook uses no more units for a tick without an alert', async () => {
      const { minute } = await createWatching({ webhook_url: 'https://receiver.example/hook' });
      await minute();

      const { reads, writes } = await minute();

      expect(reads / 6).toBe(units.tick.readUnits);
      expect(Math.ceil(writes / 6)).toBeLessThanOrEqual(units.tick.writeUnits);
    });
  });

  test('a watch writes its hour with its spans, as full as it can be, within the units of the cost estimate', async () => {
    const {
      step: begun,
      watch,
      stores: { runs, watches },
      used,
    } = await createStoredWatch();
    // An hour with the most spans that it keeps, none beside another of its class.
    const reasons = ['stream', 'model'] as const;
    const spans = Array.from({ length: 60 }, (_, index) => ({
      from: addSeconds(start, 20 * index + 2000),
      to: addSeconds(start, 20 * index + 2010),
      class: 'not_seen' as const,
      reason: reasons[index % 2] ?? null,
    }));
    const hours = [{ hour: start.toISOString(), counts: { gap_ms: 600_000 }, seen: { spans, unjudged: {} } }];
    await runs.commit({ runId: watchId, expectedVersion: watch.version, set: {}, events: [], hours });
    let step = await world.tick(begun);
    used();
    for (let tick = 0; tick < 6; tick += 1) step = await world.tick(step);
    const { reads, writes } = used();
    const [hour] = await watches.hours(watchId, start, addSeconds(start, 3600));
    // Beyond a kilobyte, each write of the hour has two more units.
    expect(hour?.seen?.spans.length).toBe(60 * 7);
    expect(JSON.stringify(hour).length + watchId.length + start.toISOString().length).toBeLessThan(1024);
    expect(writes / 6).toBeLessThanOrEqual(6.7);
    expect(reads / 6).toBeLessThanOrEqual(units.tick.readUnits + 1);
  });

  test('a search in words reads 175,000 moments with 30,000 units', async () => {
    const { stores, watch, used } = await createStoredWatch({ memory: 3 });
    const [commits, captures] = [20, 20];
    const count = commits * captures;
    for (let commit = 0; commit < commits; commit += 1)
      await stores.runs.commit({
        runId: watchId,
        expectedVersion: watch.version + commit,
        set: {},
        events: [],
        moments: Array.from({ length: captures }, (_, capture) =>
          newMoment(10 * (commit * captures + capture), {
            watch_id: watchId,
            caller: 'caller',
            scene: 'x'.repeat(80),
          }),
        ),
      });
    used();
    const span = { caller: 'caller', watches: [{ watchId, from: start }], to: addSeconds(start, 86_400) };
    const found = await stores.moments.words(span, { own: ['gate'], added: [] }, 2000, start);
    expect(found.read).toBe(count);
    expect((used().reads / count) * 175_000).toBeLessThanOrEqual(30_000);
  });

  test('a job list reads an index without the records, and a unit for each job of one page', async () => {
    const { world, used } = await createWatching({});
    await world.c.jobs.list({ caller: 'harbour', limit: 20, offset: 0 }, world.clock.now);

    expect(used().reads).toBe(1.5);
  });

  test('no operation scans the table', async () => {
    const { world, minute, commands } = await createWatching({
      webhook_url: 'https://receiver.example/hook',
    });
    await minute();
    await Promise.all([
      world.c.jobs.usage(),
      world.c.jobs.list({ caller: 'harbour', status: 'running', limit: 20, offset: 0 }, world.clock.now),
      world.c.runs.dueForRepair(world.clock.now, 10),
      world.c.callers.list('', 10),
      world.c.meter.read(),
    ]);

    expect([...commands].filter((command) => command.startsWith('Scan'))).toEqual([]);
    expect([...commands]).toContain('QueryCommand');
  });

  /** Creates a watch in a world whose runs are in a table. */
  async function createStoredWatch(options: Parameters<typeof createWatch>[0] = {}) {
    const { client, tableName } = await makeTable();
    const { used } = countUnits(client);
    const step = await createWatch(options);
    const stores = dynamoStores({ client, tableName, now: () => world.clock.now });
    const watch = await stored();
    const source = await world.c.runs.source(watch.source_id);
    if (!source) throw new Error('The watch has a source');
    const secrets = { watch_id: watchId, destinations: [] };
    await stores.watches.create({ ...watch, source, secrets, events: [], maxWatches: 1 }, world.clock.now);
    Object.assign(world.c, { runs: stores.runs, watches: { ...stores.runs, ...stores.watches } });
    return { step, watch, stores, used };
  }

  async function createWatching(fields: Record<string, unknown>) {
    const { client, tableName } = await makeTable();
    const { used, commands } = countUnits(client);
    const world = createWorld({ maxJobSeconds: 3_600 });
    const now = () => world.clock.now;
    const { runs, jobs, meter, callers, deliveries, usage } = dynamoStores({ client, tableName, now });
    Object.assign(world.c, {
      runs: publishCommits(runs, world.c),
      jobs,
      meter,
      callers,
      deliveries,
      usage: createCallerUsage({ ledger: usage, modelPrice: null, log: world.c.log, now }),
      vision: meteredVision(world.c.vision, meter),
    });
    await callers.add(newCaller('harbour', null, now()));
    const request = monitorRequest({ monitor_duration_seconds: 3_600, max_triggers: null, ...fields });
    const job = await createMonitor(request, 'harbour', world.c);
    let step = await world.begin({ run_id: job.run_id, generation: 0 });
    step = await world.tick(step);
    used();
    const minute = async () => {
      used();
      for (let tick = 0; tick < 6; tick += 1) step = await world.tick(step);
      return used();
    };
    return { world, used, commands, minute };
  }
});

/** Sums the capacity of all commands on this client's table; `used` resets the sum. */
function countUnits(client: DynamoDBClient) {
  const none = { reads: 0, writes: 0, indexWrites: 0 };
  const commands = new Set<string>();
  let units = { ...none };
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const command = String(context['commandName']);
      commands.add(command);
      Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' });
      const result = await next(args);
      const { ConsumedCapacity: consumed } = result.output as { ConsumedCapacity?: Consumed | Consumed[] };
      for (const { CapacityUnits, GlobalSecondaryIndexes } of [consumed ?? []].flat()) {
        const isRead = /^(Get|Query|BatchGet|TransactGet)/.test(command);
        units[isRead ? 'reads' : 'writes'] += CapacityUnits;
        if (isRead) continue;
        for (const index of Object.values(GlobalSecondaryIndexes ?? {}))
          units.indexWrites += index.CapacityUnits;
      }
      return result;
    },
    { step: 'initialize', name: 'countUnits', override: true },
  );
  const used = () => {
    const before = units;
    units = { ...none };
    return before;
  };
  return { used, commands };
}

type Consumed = { CapacityUnits: number; GlobalSecondaryIndexes?: Record<string, { CapacityUnits: number }> };
