import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CallLimiter } from '../../../core/ports/call-limiter.ts';
import type { CallerStore } from '../../../core/ports/caller-store.ts';
import type { DeliveryStore } from '../../../core/ports/delivery.ts';
import type { EventSessions } from '../../../core/ports/event-sessions.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import type { KeyStore } from '../../../core/ports/key-store.ts';
import type { Meter } from '../../../core/ports/meter.ts';

export type DynamoStoreSettings = {
  client: DynamoDBClient;
  tableName: string;
  now: () => Date;
  /** How long an ended job can be read; what `limits.retentionSeconds` is. Items are kept somewhat longer. */
  retentionSeconds: number;
  /** Of the calls that are answered at once; 0 is no limit. Default: none, for functions that answer no such calls. */
  callLimits?: { perMinute: number; atOnce: number };
  /** Default 10. */
  eventSessionsPerCaller?: number;
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
export function dynamoStores(_settings: DynamoStoreSettings): DynamoStores {
  throw new Error('Not built yet');
}
