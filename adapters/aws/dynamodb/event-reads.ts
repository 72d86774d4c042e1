import { jobEventSchema, type EventType, type JobEvent } from '../../../core/records/event.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import { jobPartition, itemKeys, sortPrefixes } from './keys.ts';
import { readRecord, readRecords } from './record.ts';
import type { Query, Table } from './table.ts';

/** Creates the event queries of the job store. Events are returned in sequence order. */
export function createEventReads(table: Table): Pick<JobStore, 'events' | 'newestEvents' | 'event'> {
  return {
    events: async (jobId, after, limit) => {
      const [from, to] = [itemKeys.event(jobId, after + 1).sk, `${sortPrefixes.event}~`];
      const where = '#pk = :job AND #sk BETWEEN :from AND :to';
      const values = { ':job': jobPartition(jobId), ':from': from, ':to': to };
      return readRecords(jobEventSchema, await table.query({ where, values, limit }));
    },
    newestEvents: async (jobId, type, limit) => {
      const items = await table.query({ ...newest(jobId, type), newestFirst: true, limit });
      return readRecords(jobEventSchema, items).toReversed();
    },
    event: async (jobId, sequence): Promise<JobEvent | undefined> => {
      const item = await table.get(itemKeys.event(jobId, sequence));
      return item && readRecord(jobEventSchema, item);
    },
  };
}

/** Reads events by their copies by type, except `progress`, which is most of the log itself. */
function newest(jobId: string, type: EventType): Pick<Query, 'where' | 'values' | 'filter'> {
  const where = '#pk = :job AND begins_with(#sk, :prefix)';
  const job = { ':job': jobPartition(jobId) };
  if (type !== 'progress')
    return { where, values: { ...job, ':prefix': sortPrefixes.eventTypePrefix(type) } };
  return { where, values: { ...job, ':prefix': sortPrefixes.event, ':type': type }, filter: '#type = :type' };
}
