import { z } from 'zod';
import { eventExpiry } from '../../../../core/event/stored-run.ts';
import type { RunStore } from '../../../../core/ports/runs.ts';
import type { RunEvent } from '../../../../core/records/run.ts';
import { jobEventSchema, type EventType, type JobEvent } from '../../../../core/records/event.ts';
import { watchEventSchema } from '../../../../core/records/watch-event.ts';
import type { ItemTtls } from '../table/item-ttls.ts';
import { itemKeys, runPartition, sortPrefixes } from '../table/keys.ts';
import { readRecord, readRecords } from '../table/record.ts';
import type { Query, Table, ItemKey, Write } from '../table/table.ts';

const eventSchema = z.union([jobEventSchema, watchEventSchema]);

/**
 * Writes an event. Jobs (`retentionDays` `null`) have a copy of each except `progress` by type, so that newest alerts
 * need no scan of the log.
 */
export function putEvent(event: RunEvent, retentionDays: number | null, ttls: ItemTtls): Write[] {
  const runId = 'job_id' in event ? event.job_id : event.watch_id;
  const { sequence, type, timestamp } = event;
  const expiresAt = eventExpiry(event, retentionDays);
  const content = {
    type,
    record: JSON.stringify(event),
    ...(expiresAt
      ? { expires_at_ms: expiresAt.getTime(), ttl: Math.ceil(expiresAt.getTime() / 1000) }
      : { ttl: ttls.forJob(new Date(timestamp)) }),
  };
  const put = (key: ItemKey): Write => ({ kind: 'put', item: { ...key, ...content } });
  const first = put(itemKeys.event(runId, sequence));
  return type === 'progress' || expiresAt
    ? [first]
    : [first, put(itemKeys.eventByType(runId, type, sequence))];
}

/** Creates the reads of logs. Events are returned in sequence order. */
export function createEventReads(table: Table): Pick<RunStore, 'events' | 'event'> {
  return {
    events: async (runId, after, limit, now) => {
      const items = await table.query({
        where: '#pk = :run AND #sk BETWEEN :from AND :to',
        filter: 'attribute_not_exists(#expires_at_ms) OR #expires_at_ms > :now',
        values: {
          ':run': runPartition(runId),
          ':from': itemKeys.event(runId, after + 1).sk,
          ':to': `${sortPrefixes.event}~`,
          ':now': now.getTime(),
        },
        limit,
      });
      return readRecords(eventSchema, items);
    },
    event: async (runId, sequence) => {
      const item = await table.get(itemKeys.event(runId, sequence));
      return item && readRecord(eventSchema, item);
    },
  };
}

/**
 * Reads the newest events of a type of a job, oldest first: by their copies, except `progress`, which is most of the
 * log itself.
 */
export async function readNewestEvents(
  table: Table,
  jobId: string,
  type: EventType,
  limit: number,
): Promise<JobEvent[]> {
  const items = await table.query({ ...newest(jobId, type), newestFirst: true, limit });
  return readRecords(jobEventSchema, items).toReversed();
}

function newest(jobId: string, type: EventType): Pick<Query, 'where' | 'values' | 'filter'> {
  const where = '#pk = :job AND begins_with(#sk, :prefix)';
  const job = { ':job': runPartition(jobId) };
  if (type !== 'progress')
    return { where, values: { ...job, ':prefix': sortPrefixes.eventTypePrefix(type) } };
  return { where, values: { ...job, ':prefix': sortPrefixes.event, ':type': type }, filter: '#type = :type' };
}
