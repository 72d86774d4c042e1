import { createHash } from 'node:crypto';
import type { DeliveryKey, DestinationKey } from '../../../../core/records/delivery.ts';
import { keyPrefixes } from './table-layout.ts';
import type { ItemKey } from './table.ts';

/** Keys of all items (`docs/contribute/storage.md`). Numbers have ten digits, so that they sort as text. */
export const itemKeys = {
  /** The part of a run that its creation and changes by callers write. */
  meta: (runId: string): ItemKey => ({ pk: runPartition(runId), sk: 'META' }),
  /** The part of a run that each commit writes. No sort key is between both, so that one query reads them. */
  run: (runId: string): ItemKey => ({ pk: runPartition(runId), sk: 'RUN' }),
  source: (sourceId: string): ItemKey => ({ pk: `${keyPrefixes.source}${sourceId}`, sk: 'META' }),
  event: (runId: string, sequence: number): ItemKey => ({
    pk: runPartition(runId),
    sk: `${sortPrefixes.event}${digits(sequence)}`,
  }),
  /** Copy of an event other than `progress`, so that it is found without reading the log. */
  eventByType: (jobId: string, type: string, sequence: number): ItemKey => ({
    pk: runPartition(jobId),
    sk: `${sortPrefixes.eventTypePrefix(type)}${digits(sequence)}`,
  }),
  /** The moments of a capture, by the time of the newest. */
  moments: (watchId: string, captureAt: Date, tick: number): ItemKey => ({
    pk: runPartition(watchId),
    sk: `${sortPrefixes.moments}${captureAt.toISOString()}#${digits(tick)}`,
  }),
  delivery: ({ run_id, sequence, destination_id }: DeliveryKey): ItemKey => ({
    pk: runPartition(run_id),
    sk: `${sortPrefixes.delivery}${digits(sequence)}#${destination_id}`,
  }),
  slots: (caller: string): ItemKey => ({ pk: callerPartition(caller), sk: 'SLOTS' }),
  calls: (caller: string): ItemKey => ({ pk: `${keyPrefixes.permits}${caller}`, sk: 'CALLS' }),
  eventSessions: (caller: string): ItemKey => ({ pk: `${keyPrefixes.permits}${caller}`, sk: 'SESSIONS' }),
  /** Contains the key's SHA-256: 255 characters from a caller may exceed the size of a sort key. */
  idempotency: (caller: string, key: string): ItemKey => ({
    pk: callerPartition(caller),
    sk: `IDEMPOTENCY#${createHash('sha256').update(key).digest('hex')}`,
  }),
  caller: (caller: string): ItemKey => ({ pk: keyPrefixes.callers, sk: caller }),
  callerUse: (caller: string, day: string): ItemKey => ({
    pk: callerPartition(caller),
    sk: `${sortPrefixes.use}${day}`,
  }),
  /** Hashes of the valid keys of a caller, for their limit. */
  goodKeys: (caller: string): ItemKey => ({ pk: callerPartition(caller), sk: 'GOOD_KEYS' }),
  apiKey: (hash: string): ItemKey => ({ pk: `${keyPrefixes.key}${hash}`, sk: 'META' }),
  active: (jobId: string): ItemKey => ({ pk: activePartition(shardFor(jobId)), sk: jobId }),
  jobTotals: (shard: string): ItemKey => ({ pk: `${keyPrefixes.totals}${shard}`, sk: 'JOBS' }),
  meterTotals: (shard: string): ItemKey => ({ pk: `${keyPrefixes.totals}${shard}`, sk: 'METER' }),
  watchSecrets: (watchId: string): ItemKey => ({ pk: `${keyPrefixes.watchSecrets}${watchId}`, sk: 'META' }),
  watchHour: (watchId: string, hour: string): ItemKey => ({
    pk: runPartition(watchId),
    sk: `${sortPrefixes.hour}${hour}`,
  }),
  watchReviews: (watchId: string, hour: string, conditionId: string): ItemKey => ({
    pk: runPartition(watchId),
    sk: `${sortPrefixes.reviews}${hour}#${conditionId}`,
  }),
  destinationState: ({ run_id, destination_id }: DestinationKey): ItemKey => ({
    pk: runPartition(run_id),
    sk: `${sortPrefixes.destination}${destination_id}`,
  }),
  /** The set of a caller's watches, for lists and their limit. */
  watchesOfCaller: (caller: string): ItemKey => ({ pk: callerPartition(caller), sk: 'WATCHES' }),
  alert: (alertId: string): ItemKey => ({ pk: `${keyPrefixes.alert}${alertId}`, sk: 'META' }),
  burstCuts: (): ItemKey => ({ pk: keyPrefixes.deployment, sk: 'BURST_CUTS' }),
  meterStart: (): ItemKey => ({ pk: keyPrefixes.meter, sk: 'META' }),
};

export const sortPrefixes = {
  event: 'EVENT#',
  eventTypePrefix: (type: string) => `TYPE#${type}#`,
  delivery: 'DELIVERY#',
  destination: 'DESTINATION#',
  hour: 'HOUR#',
  moments: 'SEEN#',
  reviews: 'SCORE#',
  apiKey: 'KEY#',
  use: 'USE#',
  /** In the partition of a key: those that it made. */
  madeKey: 'MADE#',
};

export function runPartition(runId: string): string {
  return `${keyPrefixes.run}${runId}`;
}

export function readRunId({ pk }: Pick<ItemKey, 'pk'>): string {
  return pk.slice(keyPrefixes.run.length);
}

export function callerPartition(caller: string): string {
  return `${keyPrefixes.caller}${caller}`;
}

export function activePartition(shard: string): string {
  return `${keyPrefixes.active}${shard}`;
}

/** Number of shards: enough to avoid a hot partition, few enough to read all of them concurrently. */
const shardCount = 16;

/** Names of all shards, `0` to `15`. */
export const shards: readonly string[] = Array.from({ length: shardCount }, (_, shard) => String(shard));

/** Returns the shard of a run, from a hash: not every bit of an id is random. */
export function shardFor(runId: string): string {
  return String((createHash('sha256').update(runId).digest()[0] ?? 0) % shardCount);
}

function digits(sequence: number): string {
  return String(sequence).padStart(10, '0');
}
