import { Duration, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { jobsByCaller, repair } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { ReconcileEnvironment } from '../../functions/reconcile/config.ts';
import { DeadLetterQueue } from '../delivery/delivery-queue.ts';
import {
  allowExecutions,
  allowListingExecutions,
  allowSending,
  allowTable,
} from '../function/permissions.ts';
import type { DeploymentBus } from '../delivery/event-bus.ts';
import { ServiceFunction, type FunctionContext, type OwnEnvironment } from '../function/service-function.ts';
import { executionEnvironment, type ExecutionMachines } from './workflow-names.ts';

type Props = {
  table: Table;
  queue: Queue;
  eventBus: DeploymentBus | undefined;
  stateMachines: StateMachine[];
  machines: ExecutionMachines;
};

/** Function that repairs interrupted work: every minute, and when a workflow execution ends. */
export class Reconcile extends Construct {
  readonly function: ServiceFunction;
  /** Failed invocations. The next run repairs the same jobs, so messages here only indicate a problem. */
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, context: FunctionContext, props: Props) {
    super(scope, id);
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { fifo: false });
    const environment: OwnEnvironment<ReconcileEnvironment> = {
      TABLE_NAME: props.table.tableName,
      QUEUE_URL: props.queue.queueUrl,
      EVENT_BUS: props.eventBus?.nameOrArn,
      ...executionEnvironment(this, props.machines),
      RETENTION_SECONDS: String(context.settings.retentionSeconds),
      EVENT_STREAMS: String(context.settings.eventStreams),
      CALLER_METRICS: String(context.settings.callerMetrics),
    };
    this.function = new ServiceFunction(this, 'Reconcile', context, {
      name: 'reconcile',
      memoryMegabytes: 512,
      // Less than the interval of one minute, so that runs seldom overlap.
      timeoutSeconds: 55,
      environment,
      deadLetters: this.deadLetters,
    });
    this.function.live.configureAsyncInvoke({ maxEventAge });
    Validations.of(this.function).acknowledge({
      id: 'Serverless-LambdaAsyncFailureDestination',
      reason: 'The function has a dead-letter queue instead of a failure destination.',
    });
    // The purge of a deleted watch finds its alerts by their caller.
    allowTable(this.function, props.table, { apiKeys: false, indexes: [jobsByCaller, repair] });
    allowSending(this.function, props.queue);
    allowExecutions(this.function, props.machines, ['states:StopExecution', 'states:DescribeExecution']);
    // After a fault, an invocation for each shard of the repair index shares the work of a run.
    this.function.allowItself();
    allowListingExecutions(this.function, props.machines);
    this.#addTriggers(props.stateMachines);
  }

  #addTriggers(stateMachines: StateMachine[]): void {
    const target = () =>
      new LambdaFunction(this.function.liveFunction, {
        deadLetterQueue: this.deadLetters,
        maxEventAge,
      });
    new Rule(this, 'ExecutionEnded', {
      description: 'An execution of the watch workflow ended',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: stateMachines.map(({ stateMachineArn }) => stateMachineArn),
          status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'],
        },
      },
      targets: [target()],
    });
    new Rule(this, 'EachMinute', {
      description: 'Finds jobs with unpublished events or an expired lease',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [target()],
    });
  }
}

/**
 * Maximum age of a queued invocation: the run of each minute replaces older ones. The default of Lambda is six hours.
 */
const maxEventAge = Duration.minutes(10);
