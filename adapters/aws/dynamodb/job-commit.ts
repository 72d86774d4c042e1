import type { JobEvent } from '../../../core/event.ts';
import type { JobChange, Totals } from '../../../core/ports/job-store.ts';
import { isTerminal } from '../../../core/transitions.ts';
import { readJobItem, toJobItem, type StoredJob } from './job-item.ts';
import { keyOf, shardOf } from './keys.ts';
import type { Kept } from './kept.ts';
import { newestHook } from './repair-due.ts';
import type { Table } from './table.ts';
import type { Item, Key, Write } from './write.ts';

/**
 * One transaction: job, events, slot and totals change together. The job is read first, since what belongs into the repair index depends on
 * the whole of it; the conditions then see to it that nothing has changed since.
 */
export async function commitChange(
  { table, kept }: { table: Table; kept: Kept },
  change: JobChange,
): Promise<'committed' | 'outdated'> {
  const item = await table.get(keyOf.job(change.jobId));
  if (item === undefined) return 'outdated';
  const before = readJobItem(item);
  if (!holds(change, before)) return 'outdated';
  const after: StoredJob = {
    job: { ...before.job, ...change.set },
    version: before.version + 1,
    hook: newestHook(before.hook, change.events),
  };
  const ends = isTerminal(after.job.status) && !isTerminal(before.job.status);
  const result = await table.transact([
    setJob(after, change, before.version, kept),
    ...change.events.flatMap((event) => logEvent(event, kept)),
    ...(change.freesSlotOf === undefined ? [] : [freeSlot(change.freesSlotOf, change.jobId)]),
    ...(change.addsToTotals === undefined ? [] : [addToTotals(change.addsToTotals, change.jobId)]),
    ...(ends ? afterwards(after, kept) : []),
  ]);
  return result.kind === 'written' ? 'committed' : 'outdated';
}

/** The same as the condition, for nothing but a read. */
function holds({ from, expectedSequence }: JobChange, { job }: StoredJob): boolean {
  return from.includes(job.status) && job.sequence === expectedSequence;
}

/** Sets all but `published`, which moves by itself. */
function setJob(after: StoredJob, change: JobChange, version: number, kept: Kept): Write {
  const { pk, sk, published: _, ...columns } = toJobItem(after, kept);
  const names = Object.keys(columns);
  const [set, gone] = [names.filter(isSet), names.filter((name) => !isSet(name))];
  const states = change.from.map((status, index): [string, string] => [`:from${index}`, status]);
  return {
    kind: 'update',
    key: { pk, sk },
    change: `SET ${set.map((name) => `#${name} = :${name}`).join(', ')}${
      gone.length === 0 ? '' : ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}`
    }`,
    condition: `#status IN (${states.map(([name]) => name).join(', ')}) AND #sequence = :expected AND #version = :seen`,
    values: {
      ...Object.fromEntries(set.map((name) => [`:${name}`, columns[name]])),
      ...Object.fromEntries(states),
      ':expected': change.expectedSequence,
      ':seen': version,
    },
  };

  function isSet(name: string): boolean {
    return columns[name] !== undefined;
  }
}

/** Progress is most of a log. What is none is stored a second time by its type: a job's detail shows the newest of those. */
function logEvent(event: JobEvent, kept: Kept): Write[] {
  const { job_id: jobId, sequence, type } = event;
  const content = { type, record: JSON.stringify(event), ttl: kept.withItsJob(new Date(event.timestamp)) };
  const put = (key: Key): Write => ({ kind: 'put', item: { ...key, ...content } });
  const first = put(keyOf.event(jobId, sequence));
  return type === 'progress' ? [first] : [first, put(keyOf.eventByType(jobId, type, sequence))];
}

/** From a set: doing it twice changes nothing. */
function freeSlot(caller: string, jobId: string): Write {
  return {
    kind: 'update',
    key: keyOf.slots(caller),
    change: 'DELETE #active :job',
    values: { ':job': new Set([jobId]) },
  };
}

function addToTotals(totals: Totals, jobId: string): Write {
  const added: Item = { ended: 1, ...totals };
  const names = Object.keys(added);
  return {
    kind: 'update',
    key: keyOf.jobTotals(shardOf(jobId)),
    change: `ADD ${names.map((name) => `#${name} :${name}`).join(', ')}`,
    values: Object.fromEntries(names.map((name) => [`:${name}`, added[name]])),
  };
}

/** The job is no longer active, and its source, with the credentials in its URL, goes with it. */
function afterwards({ job }: StoredJob, kept: Kept): Write[] {
  const expiresAt = job.expires_at;
  return [
    { kind: 'delete', key: keyOf.active(job.job_id) },
    ...(expiresAt === null ? [] : [expireSource(job.source_id, kept.pastExpiry(new Date(expiresAt)))]),
  ];
}

function expireSource(sourceId: string, ttl: number): Write {
  return { kind: 'update', key: keyOf.source(sourceId), change: 'SET #ttl = :ttl', values: { ':ttl': ttl } };
}
