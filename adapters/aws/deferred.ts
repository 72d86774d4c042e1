import type { AlarmReader } from '../../core/ports/alarms.ts';
import type { DeliveryQueue } from '../../core/ports/delivery.ts';
import type { EventBus } from '../../core/ports/event-bus.ts';
import type { Executions } from '../../core/ports/executions.ts';
import type { RecentLog } from '../../core/ports/log.ts';
import type { MediaStore } from '../../core/ports/media-store.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { loadOnce } from '../load-once.ts';
import type { EventBusOptions } from './event-bus.ts';
import type { ExecutionsOptions } from './executions.ts';
import type { Invoke } from './invoke/invoke.ts';

/**
 * Adapters whose libraries a cold start does not load. The first call loads them: the bundler writes each dynamic import to a file of its
 * own, and the test of the bundles limits the size of the rest.
 */

/** Creates the media store; loads the S3 client at the first call. */
export function deferMediaStore(bucket: string): MediaStore {
  const load = loadOnce(async () => {
    const [{ S3Client }, { createMediaStore }] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('./media-store.ts'),
    ]);
    return createMediaStore({ client: new S3Client({}), bucket });
  });
  return {
    put: async (...input) => (await load()).put(...input),
    get: async (...input) => (await load()).get(...input),
    remove: async (...input) => (await load()).remove(...input),
    removeOfSource: async (...input) => (await load()).removeOfSource(...input),
  };
}

/** Creates the delivery queue; loads the SQS client at the first message. */
export function deferDeliveryQueue(queueUrl: string, hasBus: boolean): DeliveryQueue {
  const load = loadOnce(async () => {
    const [{ SQSClient }, { createDeliveryQueue }] = await Promise.all([
      import('@aws-sdk/client-sqs'),
      import('./delivery-queue.ts'),
    ]);
    return createDeliveryQueue({ client: new SQSClient({}), queueUrl });
  });
  return { hasBus, send: async (message) => (await load()).send(message) };
}

/** Creates the event bus; loads the EventBridge client at the first event. */
export function deferEventBus(options: Omit<EventBusOptions, 'client'>): EventBus {
  const load = loadOnce(async () => {
    const [{ EventBridgeClient }, { createEventBus }] = await Promise.all([
      import('@aws-sdk/client-eventbridge'),
      import('./event-bus.ts'),
    ]);
    return createEventBus({ client: new EventBridgeClient({}), ...options });
  });
  return { put: async (event) => (await load()).put(event) };
}

/** Creates executions on Step Functions; loads its client at the first call. */
export function deferExecutions(machines: Omit<ExecutionsOptions, 'client'>): Executions {
  const load = loadOnce(async () => {
    const [{ SFNClient }, { createExecutions }] = await Promise.all([
      import('@aws-sdk/client-sfn'),
      import('./executions.ts'),
    ]);
    return createExecutions({ client: new SFNClient({}), ...machines });
  });
  return {
    start: async (input) => (await load()).start(input),
    stop: async (...input) => (await load()).stop(...input),
    status: async (input) => (await load()).status(input),
    runsHere: () => false,
  };
}

/** Creates an `Invoke` for one function; loads the Lambda client at the first call. */
export function deferInvoke(functionName: string): Invoke {
  const load = loadOnce(async () => {
    const [{ LambdaClient }, { createInvoke }] = await Promise.all([
      import('@aws-sdk/client-lambda'),
      import('./invoke/create-invoke.ts'),
    ]);
    return createInvoke(new LambdaClient({}), functionName);
  });
  return async (...input) => (await load())(...input);
}

/** Creates the client for webhooks, without keep-alive; loads undici at the first request. */
export function deferWebhookHttp(guard: EgressGuard): GuardedHttp {
  const load = loadOnce(async () => {
    const { createGuardedHttp } = await import('../egress/guarded-http.ts');
    return createGuardedHttp(guard, { keepAlive: false });
  });
  return {
    request: async (...input) => (await load()).request(...input),
    close: async () => (await load()).close(),
  };
}

/** Creates the reader of alarms; loads the CloudWatch client at the first call. */
export function deferAlarms(prefix: string): AlarmReader {
  const load = loadOnce(async () => {
    const [{ CloudWatchClient }, { createAlarms }] = await Promise.all([
      import('@aws-sdk/client-cloudwatch'),
      import('./alarms.ts'),
    ]);
    return createAlarms({ client: new CloudWatchClient({}), prefix });
  });
  return { list: async () => (await load()).list() };
}

/** Creates the reader of the newest log entries; loads the client of CloudWatch Logs at the first call. */
export function deferRecentLog(logGroup: string, now: () => Date): RecentLog {
  const load = loadOnce(async () => {
    const [{ CloudWatchLogsClient }, { createRecentLog }] = await Promise.all([
      import('@aws-sdk/client-cloudwatch-logs'),
      import('./recent-log.ts'),
    ]);
    return createRecentLog({ client: new CloudWatchLogsClient({}), logGroup, now });
  });
  return { entries: async () => (await load()).entries() };
}
