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
import { withDynamoLocal } from './dynamo-local.ts';

/**
 * Capacity units of docs/contribute/storage.md, as counted by DynamoDB Local. It counts index writes in a transaction twice, and writes of compressed
 * records in a transaction too low: `run-item.test.ts` has their size.
 */
withDynamoLocal((makeTable) => {
  describe('capacity of a minute with six ticks', () => {
    test('a monitor without a webhook uses the units of the cost estimate', async () => {
      const { minute } = await createWatching({});

      const { reads, writes } = await minute();

      expect(reads / 6).toBe(units.tick.readUnits);
      expect(Math.ceil(writes / 6)).toBeLessThanOrEqual(units.tick.writeUnits);
    });

    test('a monitor writes the repair index once, because its due time is in whole minutes', async () => {
      const { minute } = await createWatching({});

      expect((await minute()).indexWrites).toBe(4);
    });

    test('a monitor with a webhook uses no more units for a tick without an alert', async () => {
      const { minute } = await createWatching({ webhook_url: 'https://receiver.example/hook' });
      await minute();

      const { reads, writes } = await minute();

      expect(reads / 6).toBe(units.tick.readUnits);
      expect(Math.ceil(writes / 6)).toBeLessThanOrEqual(units.tick.writeUnits);
    });
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
    let step = await world.begin({ job_id: job.run_id, generation: 0 });
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
