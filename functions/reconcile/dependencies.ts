import { createDeliveryQueue } from '../../adapters/aws/delivery-queue.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { createExecutions } from '../../adapters/aws/executions.ts';
import { countOpenSessions } from '../../adapters/aws/limit-event-sessions.ts';
import { lambdaRequests } from '../../adapters/aws/requests/aws-requests.ts';
import { jsonCalls } from '../../adapters/aws/requests/json-calls.ts';
import { instrumentJobs } from '../../adapters/aws/telemetry/instrument-jobs.ts';
import { instrumentRepairs } from '../../adapters/aws/telemetry/instrument-repairs.ts';
import { createTelemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import type { Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import type { readUsageToday } from '../../core/access/caller-usage.ts';
import type { ReconcileDeps } from '../../core/job/reconcile.ts';
import type { RepairWatchDeps } from '../../core/workflow/repair-watches.ts';
import type { ReconcileConfig } from './config.ts';

const now = () => new Date();

/** Dependencies of the handler. */
export type ReconcileFunctionDeps = ReconcileDeps &
  RepairWatchDeps &
  Parameters<typeof readUsageToday>[0] &
  Pick<Telemetry, 'during' | 'measurements'> & {
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
  const requests = lambdaRequests();
  const hasBus = config.EVENT_BUS !== undefined;
  const { jobs, watches, callers, usage, countSessions } = dynamoStores({
    dynamo: jsonCalls(requests, 'dynamodb'),
    tableName: config.TABLE_NAME,
    now,
    hasBus,
    retentionSeconds: config.RETENTION_SECONDS,
  });
  const executions = createExecutions({
    states: jsonCalls(requests, 'states'),
    stateMachineArn: config.STATE_MACHINE_ARN,
    otherStateMachineArn: config.OTHER_STATE_MACHINE_ARN,
  });
  const queue = createDeliveryQueue({ sqs: jsonCalls(requests, 'sqs'), queueUrl: config.QUEUE_URL, hasBus });
  return {
    ...instrumentRepairs({ jobs: instrumentJobs(jobs, measurements), queue, executions }, measurements),
    watches,
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
