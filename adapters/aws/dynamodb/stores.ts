import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CallLimits } from '../../../core/access/call-admission.ts';
import type { CallLimiter, CallerStore, CallerEraser, KeyStore } from '../../../core/ports/callers.ts';
import type { DeliveryStore } from '../../../core/ports/delivery.ts';
import type { EventSessions } from '../../../core/ports/event-sessions.ts';
import { noUsage, type JobStore, type RunStore, type WatchStore } from '../../../core/ports/runs.ts';
import type { Meter, UsageLedger } from '../../../core/ports/usage.ts';
import type { MomentStore } from '../../../core/ports/moment-store.ts';
import { setSystemTimer, type SetTimer } from '../../../core/time-limit.ts';
import { createBurstCuts, type BurstCutStore } from './runs/burst-cuts.ts';
import { createCallLimiter, countEventSessions, createEventSessions } from './callers/permits.ts';
import { createCallerEraser, createCallerStore } from './callers/caller-store.ts';
import { createDeliveryStore } from './runs/delivery-store.ts';
import { systemBackoff, type BackoffDeps } from '../../retry-with-backoff.ts';
import { itemTtls } from './table/item-ttls.ts';
import { createKeyStore } from './callers/key-store.ts';
import { createMeter, createUsageLedger, readUsage } from './callers/usage.ts';
import { openTable } from './table/open-table.ts';
import { createMomentStore } from './runs/moment-items.ts';
import { createRepairShards, type RepairShards } from './runs/repair-shards.ts';
import { createRunStore } from './runs/run-store.ts';
import { createWatchStore } from './runs/watch-store.ts';
import { readNewestEvents } from './runs/event-items.ts';
import { createJob, findRequest, countSlots, releaseSlot, reserveSlot } from './runs/job-creation.ts';
import { listJobs } from './runs/job-list.ts';
import type { RunDeps } from './runs/run-commit.ts';

export type DynamoStoreSettings = {
  client: DynamoDBClient;
  tableName: string;
  now: () => Date;
  /** Time that an ended job is readable, in seconds. Its items expire later. Default: the maximum of a stage. */
  retentionSeconds?: number;
  /** True if an event bus receives the events of all jobs and watches. Default: false. */
  hasBus?: boolean;
  /** Limits of synchronous calls; 0 means no limit. Default: no limits, for functions without such calls. */
  callLimits?: CallLimits;
  /** Maximum concurrent event streams per caller. Default: 10. */
  eventSessionsPerCaller?: number;
  /** Default: the system's timer and random numbers. */
  backoff?: BackoffDeps;
  newId?: () => string;
  setTimer?: SetTimer;
};

export type DynamoStores = {
  runs: RunStore;
  jobs: JobStore;
  callers: CallerStore;
  eraser: CallerEraser;
  keys: KeyStore;
  watches: WatchStore;
  moments: MomentStore;
  deliveries: DeliveryStore;
  meter: Meter;
  usage: UsageLedger;
  repairShards: RepairShards;
  burstCuts: BurstCutStore;
  limiter: CallLimiter;
  sessions: EventSessions;
  sessionsWithLimit: (perName: number) => EventSessions;
  countSessions: (name: string) => Promise<number>;
};

/** Creates all stores on one table (`table-layout.ts`). Sends no request. */
export function dynamoStores(settings: DynamoStoreSettings): DynamoStores {
  const { client, tableName, now, retentionSeconds } = settings;
  const { backoff = systemBackoff, newId = randomUUID, setTimer = setSystemTimer } = settings;
  const { callLimits = { perMinute: 0, atOnce: 0 }, eventSessionsPerCaller: perCaller = 10 } = settings;
  const table = openTable({ client, tableName, newId, ...backoff });
  const ttls = itemTtls(retentionSeconds);
  const deps = { table, ttls, hasBus: settings.hasBus ?? false };
  const runs = createRunStore(deps, backoff);
  const since = () => ({ startedAt: now(), jobsBefore: noUsage });
  const sessionsWithLimit = (perName: number) =>
    createEventSessions({ table, backoff, now, newId, setTimer, perCaller: perName });
  return {
    runs,
    jobs: createJobStore(deps, backoff),
    callers: createCallerStore(table),
    eraser: createCallerEraser(table),
    keys: createKeyStore(table, backoff),
    watches: createWatchStore(runs, deps, backoff),
    moments: createMomentStore(table, backoff),
    deliveries: createDeliveryStore(table, backoff, now),
    meter: createMeter({ table, random: backoff.random, since }),
    usage: createUsageLedger(table),
    repairShards: createRepairShards(table),
    burstCuts: createBurstCuts({ table, now }),
    limiter: createCallLimiter({ table, backoff, now, newId, ...callLimits }),
    sessions: sessionsWithLimit(perCaller),
    sessionsWithLimit,
    countSessions: (name) => countEventSessions({ table, now }, name),
  };
}

/** Creates the job store. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
function createJobStore(deps: RunDeps, backoff: BackoffDeps): JobStore {
  const { table } = deps;
  return {
    reserveSlot: async (reservation, now) => reserveSlot(table, reservation, now),
    releaseSlot: async (caller, jobId, holder) => releaseSlot(table, caller, jobId, holder),
    create: async (creation, now) => createJob(deps, creation, now),
    findByIdempotencyKey: async (caller, key, now) => findRequest(table, caller, key, now),
    list: async (query, now) => listJobs(deps, query, now),
    countActive: async (caller) => countSlots(table, caller),
    newestEvents: async (jobId, type, limit) => readNewestEvents(table, jobId, type, limit),
    usage: async () => readUsage(table, backoff),
  };
}
