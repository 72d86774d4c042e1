import type { AlarmReader, RecentLog } from '../../core/ports/observability.ts';
import type { EventBus } from '../../core/ports/delivery.ts';
import type { MediaStore } from '../../core/ports/media-store.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { loadOnce } from '../load-once.ts';
import type { AlarmsOptions } from './alarms.ts';
import type { DeliveryQueueOptions, SqsQueue } from './delivery-queue.ts';
import type { EventBusOptions } from './event-bus.ts';
import type { ExecutionsOptions, StateMachineExecutions } from './executions.ts';
import type { Invoke, InvokeLater } from './invoke/invoke.ts';
import type { MediaStoreOptions } from './media-store.ts';
import type { RecentLogOptions } from './recent-log.ts';

/**
 * Adapters whose clients and libraries a cold start does not load. The first call loads them: the bundler writes each
 * dynamic import to a file of its own, and the test of the bundles limits the size of the rest.
 */

/** Creates the media store; loads the S3 client at the first call. */
export function deferMediaStore(options: MediaStoreOptions): MediaStore {
  const load = loadOnce(async () => (await import('./media-store.ts')).createMediaStore(options));
  return {
    put: async (...input) => (await load()).put(...input),
    get: async (...input) => (await load()).get(...input),
    remove: async (...input) => (await load()).remove(...input),
    removeOfSource: async (...input) => (await load()).removeOfSource(...input),
  };
}

/** Creates the delivery queue; loads the SQS client at the first call. */
export function deferDeliveryQueue(options: DeliveryQueueOptions): SqsQueue {
  const load = loadOnce(async () => (await import('./delivery-queue.ts')).createDeliveryQueue(options));
  return {
    hasBus: options.hasBus ?? false,
    send: async (...input) => (await load()).send(...input),
    postpone: async (...input) => (await load()).postpone(...input),
  };
}

/** Creates the event bus; loads the EventBridge client at the first event. */
export function deferEventBus(options: EventBusOptions): EventBus {
  const load = loadOnce(async () => (await import('./event-bus.ts')).createEventBus(options));
  return { put: async (...input) => (await load()).put(...input) };
}

/** Creates executions on Step Functions; loads its client at the first call. */
export function deferExecutions(options: ExecutionsOptions): StateMachineExecutions {
  const load = loadOnce(async () => (await import('./executions.ts')).createExecutions(options));
  return {
    start: async (...input) => (await load()).start(...input),
    stop: async (...input) => (await load()).stop(...input),
    status: async (...input) => (await load()).status(...input),
    runsHere: () => false,
    listRunning: async (...input) => (await load()).listRunning(...input),
  };
}

/** Creates an `Invoke` for one function; loads the Lambda client at the first call. */
export function deferInvoke(functionName: string): Invoke {
  const load = loadOnce(async () => (await import('./invoke/create-invoke.ts')).createInvoke(functionName));
  return async (...input) => (await load())(...input);
}

/** Creates an `InvokeLater`; loads the Lambda client at the first call. */
export function deferInvokeLater(): InvokeLater {
  const load = loadOnce(async () => (await import('./invoke/create-invoke.ts')).createInvokeLater());
  return async (...input) => (await load())(...input);
}

/** Creates the reader of alarms; loads the CloudWatch client at the first call. */
export function deferAlarms(options: AlarmsOptions): AlarmReader {
  const load = loadOnce(async () => (await import('./alarms.ts')).createAlarms(options));
  return { list: async () => (await load()).list() };
}

/** Creates the reader of the newest log entries; loads the client of CloudWatch Logs at the first call. */
export function deferRecentLog(options: RecentLogOptions): RecentLog {
  const load = loadOnce(async () => (await import('./recent-log.ts')).createRecentLog(options));
  return { entries: async () => (await load()).entries() };
}

/** Creates the client for webhooks; loads undici at the first request. */
export function deferWebhookHttp(guard: EgressGuard): GuardedHttp {
  const load = loadOnce(async () => {
    const { createGuardedHttp } = await import('../egress/guarded-http.ts');
    return createGuardedHttp(guard);
  });
  return {
    request: async (...input) => (await load()).request(...input),
    close: async () => (await load()).close(),
  };
}
