import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryQueue } from '../../adapters/aws/delivery-queue.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { createExecutions } from '../../adapters/aws/executions.ts';
import { createInvokeLater } from '../../adapters/aws/invoke/invoke-later.ts';
import { countOpenSessions } from '../../adapters/aws/limit-event-sessions.ts';
import { listRunning, useListedStatus } from '../../adapters/aws/listed-executions.ts';
import { paceStarts } from '../../adapters/aws/paced-executions.ts';
import { lambdaRequests } from '../../adapters/aws/requests/aws-requests.ts';
import { jsonCalls } from '../../adapters/aws/requests/json-calls.ts';
import { instrumentJobs } from '../../adapters/aws/telemetry/instrument-jobs.ts';
import { instrumentRepairs } from '../../adapters/aws/telemetry/instrument-repairs.ts';
import { createTelemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import type { Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import type { readUsageToday } from '../../core/access/caller-usage.ts';
import type { RepairJobDeps } from '../../core/workflow/repair-jobs.ts';
import type { RepairWatchDeps } from '../../core/workflow/repair-watches.ts';
import type { ReconcileConfig } from './config.ts';
import { startPace } from './fan-out.ts';
import type { FanOutDeps } from './fan-out.ts';

const now = () => new Date();

/** Requests that list running executions, a thousand each: a quarter of what an invocation of each shard may carry. */
const maxPages = 30;

/** Dependencies of the handler. */
export type ReconcileFunctionDeps = RepairJobDeps &
  RepairWatchDeps &
  FanOutDeps &
  Parameters<typeof readUsageToday>[0] &
  Pick<Telemetry, 'during' | 'measurements'> & {
    /** Returns the number of open event streams of the deployment. */
    countEventStreams: () => Promise<number>;
    /** Maximum callers with metrics of their own. */
    maxCallerMetrics: number;
    /** Records that this release served for some minutes. */
    addServed: (minutes: number) => Promise<void>;
  };

/** Creates the dependencies, once per instance. */
export function createDependencies(config: ReconcileConfig): ReconcileFunctionDeps {
  const { measurements, log, during } = createTelemetry({
    level: config.LOG_LEVEL,
    service: config.POWERTOOLS_SERVICE_NAME,
  });
  const requests = lambdaRequests();
  const hasBus = config.EVENT_BUS !== undefined;
  const { jobs, watches, deliveries, callers, usage, countSessions, repairShards, releases } = dynamoStores({
    dynamo: jsonCalls(requests, 'dynamodb'),
    tableName: config.TABLE_NAME,
    now,
    hasBus,
    retentionSeconds: config.RETENTION_SECONDS,
  });
  const states = jsonCalls(requests, 'states');
  const stateMachineArns = [config.STATE_MACHINE_ARN, config.OTHER_STATE_MACHINE_ARN].filter(
    (arn) => arn !== undefined,
  );
  const repairing = {
    jobs: instrumentJobs(jobs, measurements),
    queue: createDeliveryQueue({ sqs: jsonCalls(requests, 'sqs'), queueUrl: config.QUEUE_URL, hasBus }),
    executions: createExecutions({
      states,
      stateMachineArn: config.STATE_MACHINE_ARN,
      otherStateMachineArn: config.OTHER_STATE_MACHINE_ARN,
    }),
  };
  const pace = { ...startPace, elapsedMs: () => performance.now(), sleep };
  return {
    ...instrumentRepairs(repairing, measurements),
    repairShards,
    listRunning: () => listRunning({ states, stateMachineArns, maxPages }),
    invokeLater: createInvokeLater(requests),
    createShardExecutions: (running) => {
      const paced = paceStarts(repairing.executions, pace);
      const executions = running === null ? paced : useListedStatus(paced, running);
      return instrumentRepairs({ ...repairing, executions }, measurements).executions;
    },
    watches,
    deliveries,
    callers,
    usage,
    maxCallerMetrics: config.CALLER_METRICS,
    addServed: (minutes) => releases.addServed(config.RELEASE, minutes),
    log,
    limits: { retentionSeconds: config.RETENTION_SECONDS },
    now,
    during,
    measurements,
    countEventStreams: () => countOpenSessions(config.EVENT_STREAMS, countSessions),
  };
}
