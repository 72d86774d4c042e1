import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../../adapters/aws/client-settings.ts';
import { deferDeliveryQueue, deferExecutions, deferInvokeLater } from '../../adapters/aws/deferred.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { countOpenSessions } from '../../adapters/aws/limit-event-sessions.ts';
import { paceStarts, useListedStatus } from '../../adapters/aws/sweep-executions.ts';
import { instrumentRuns } from '../../adapters/aws/telemetry/instrument.ts';
import { createTelemetry, type Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import { publishCommits } from '../../core/delivery/publish.ts';
import type { readUsageToday } from '../../core/access/caller-usage.ts';
import type { WatchStore } from '../../core/ports/runs.ts';
import type { RepairDeps } from '../../core/workflow/repair.ts';
import type { ReconcileConfig } from './config.ts';
import { startPace, type FanOutDeps } from './fan-out.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import type { MetricsSink } from '../../core/ports/observability.ts';

const now = () => new Date();

/** Requests that list running executions, a thousand each: a quarter of what an invocation of each shard may carry. */
const maxPages = 30;

export type ReconcileFunctionDeps = RepairDeps &
  FanOutDeps &
  Parameters<typeof readUsageToday>[0] &
  Pick<Telemetry, 'during' | 'measurements'> & {
    watches: Pick<WatchStore, 'standing'>;
    /** Returns the number of open event streams of the deployment. */
    countEventStreams: () => Promise<number>;
    /** Maximum callers with metrics of their own. */
    maxCallerMetrics: number;
  };

/** Creates the dependencies, once per instance. */
export function createDependencies(config: ReconcileConfig): ReconcileFunctionDeps {
  const { measurements, log, during } = createTelemetry({
    level: config.LOG_LEVEL,
    service: config.POWERTOOLS_SERVICE_NAME,
  });
  const hasBus = config.EVENT_BUS !== undefined;
  const { runs, watches, deliveries, callers, usage, countSessions, repairShards } = dynamoStores({
    client: new DynamoDBClient(clientSettings),
    tableName: config.TABLE_NAME,
    now,
    hasBus,
    retentionSeconds: config.RETENTION_SECONDS,
  });
  const executions = deferExecutions({
    stateMachineArn: config.STATE_MACHINE_ARN,
    otherStateMachineArn: config.OTHER_STATE_MACHINE_ARN,
  });
  const repairing = {
    runs: instrumentRuns(runs, measurements),
    queue: deferDeliveryQueue({ queueUrl: config.QUEUE_URL, hasBus }),
    executions,
  };
  const repairs = instrumentRepairs(repairing, measurements);
  const publishing = { queue: repairs.queue, deliveries, log, now };
  const pace = { ...startPace, elapsedMs: () => performance.now(), sleep };
  return {
    ...repairs,
    runs: publishCommits(repairs.runs, publishing),
    repairShards,
    listRunning: () => executions.listRunning(maxPages),
    invokeLater: deferInvokeLater(),
    createShardExecutions: (running) => {
      const paced = paceStarts(executions, pace);
      const listed = running === null ? paced : useListedStatus(paced, running);
      return instrumentRepairs({ ...repairing, executions: listed }, measurements).executions;
    },
    watches,
    deliveries,
    callers,
    usage,
    maxCallerMetrics: config.CALLER_METRICS,
    log,
    limits: { retentionSeconds: config.RETENTION_SECONDS },
    now,
    during,
    measurements,
    countEventStreams: () => countOpenSessions(config.EVENT_STREAMS, countSessions),
  };
}

type Repairing = Pick<CoreDeps, 'runs' | 'queue' | 'executions'>;

/** Adds metrics to the dependencies of `reconcile`: counts each repair. */
export function instrumentRepairs(
  { runs, queue, executions }: Repairing,
  measurements: MetricsSink,
): Repairing {
  return {
    runs: {
      ...runs,
      commit: async (change) => {
        const result = await runs.commit(change);
        // A change without events only extends a lease.
        if (result === 'committed' && change.events.length > 0) measurements.add('Repairs');
        return result;
      },
    },
    queue: {
      ...queue,
      send: async (message) => {
        await queue.send(message);
        measurements.add('Repairs');
      },
    },
    executions: {
      ...executions,
      start: async (input) => {
        const result = await executions.start(input);
        if (result === 'started') measurements.add('Repairs');
        return result;
      },
    },
  };
}
