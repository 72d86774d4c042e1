import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CallLimiter } from '../../../core/ports/call-limiter.ts';
import type { CallerStore } from '../../../core/ports/caller-store.ts';
import type { DeliveryStore } from '../../../core/ports/delivery.ts';
import type { EventSessions } from '../../../core/ports/event-sessions.ts';
import type { JobStore, Usage } from '../../../core/ports/job-store.ts';
import { noCounts } from '../../../core/job.ts';
import type { KeyStore } from '../../../core/ports/key-store.ts';
import type { Meter } from '../../../core/ports/meter.ts';
import { setSystemTimer, type SetTimer } from '../../embedded/timer.ts';
import { createCallLimiter, type CallLimits } from './call-limiter.ts';
import { createCallerStore } from './caller-store.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createEventSessions } from './event-sessions.ts';
import { createJobStore } from './job-store.ts';
import { systemPatience, type Patience } from './jitter.ts';
import { keptFor } from './kept.ts';
import { createKeyStore } from './key-store.ts';
import { createMeter } from './meter.ts';
import { openTable } from './table.ts';

export type DynamoStoreSettings = {
  client: DynamoDBClient;
  tableName: string;
  now: () => Date;
  /** How long an ended job can be read; items are kept somewhat longer. Default: the longest that a stage may set. */
  retentionSeconds?: number;
  /** Of the calls that are answered at once; 0 is no limit. Default: none, for functions that answer no such calls. */
  callLimits?: CallLimits;
  /** Default 10. */
  eventSessionsPerCaller?: number;
  /** Default: the system's. */
  patience?: Patience;
  newId?: () => string;
  setTimer?: SetTimer;
};

export type DynamoStores = {
  jobs: JobStore;
  callers: CallerStore;
  keys: KeyStore;
  deliveries: DeliveryStore;
  meter: Meter;
  limiter: CallLimiter;
  sessions: EventSessions;
};

/** Every store of the service on one table (`table-layout.ts`). Making them asks the table nothing. */
export function dynamoStores(settings: DynamoStoreSettings): DynamoStores {
  const { client, tableName, now, retentionSeconds } = settings;
  const { patience = systemPatience, newId = randomUUID, setTimer = setSystemTimer } = settings;
  const { callLimits = { perMinute: 0, atOnce: 0 }, eventSessionsPerCaller: perCaller = 10 } = settings;
  const table = openTable({ client, tableName, newId, ...patience });
  const kept = keptFor(retentionSeconds);
  const since = () => ({ startedAt: now(), jobsBefore: nothingUsed });
  return {
    jobs: createJobStore(table, kept, patience),
    callers: createCallerStore(table),
    keys: createKeyStore(table, patience),
    deliveries: createDeliveryStore(table, kept, now),
    meter: createMeter({ table, random: patience.random, since }),
    limiter: createCallLimiter({ table, patience, now, newId, ...callLimits }),
    sessions: createEventSessions({ table, patience, now, newId, setTimer, perCaller }),
  };
}

const nothingUsed: Usage = {
  jobs_created: 0,
  jobs_completed: 0,
  jobs_stopped: 0,
  jobs_failed: 0,
  ...noCounts,
};
