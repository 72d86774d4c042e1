import type { JobEvent } from '../../../core/records/event.ts';
import type { JobChange } from '../../../core/ports/job-store.ts';
import type { Totals } from '../../../core/ports/run-store.ts';
import { applyJobChange, isTerminal } from '../../../core/records/job.ts';
import { readJobItem, toJobItem, type StoredJob } from './job-item.ts';
import { itemKeys, shardFor } from './keys.ts';
import type { ItemRules } from './item-rules.ts';
import type { ItemTtls } from './item-ttls.ts';
import { newestWebhookEvent } from './repair-due.ts';
import { expireSource } from './source-item.ts';
import type { Table } from './table.ts';
import type { Item, ItemKey, Write } from './write.ts';

/**
 * Commits a job change: job, events, slot and totals in one transaction. The job is read first, because its repair
 * index entry depends on the whole job. The conditions ensure that nothing has changed since. Returns 'outdated'
 * otherwise.
 */
export async function commitChange(
  { table, ...rules }: { table: Table } & ItemRules,
  change: JobChange,
): Promise<'committed' | 'outdated'> {
  const item = await table.get(itemKeys.job(change.runId));
  if (item === undefined) return 'outdated';
  const before = readJobItem(item);
  if (before.job.version !== change.expectedVersion) return 'outdated';
  const after: StoredJob = {
    job: applyJobChange(before.job, change),
    hook: newestWebhookEvent(before.hook, change.events),
  };
  const ends = isTerminal(after.job.status) && !isTerminal(before.job.status);
  const result = await table.transact([
    setJob(after, change, rules),
    ...change.events.flatMap((event) => logEvent(event, rules.ttls)),
    ...(change.releasesSlotOf === undefined ? [] : [freeSlot(change.releasesSlotOf, change.runId)]),
    ...(change.totalsDelta === undefined ? [] : [addToTotals(change.totalsDelta, change.runId)]),
    ...(ends ? afterwards(after, rules.ttls) : []),
  ]);
  return result.kind === 'written' ? 'committed' : 'outdated';
}

/** Sets all columns except `published`, which changes separately. */
function setJob(after: StoredJob, { expectedVersion }: JobChange, rules: ItemRules): Write {
  const { pk, sk, published: _, ...columns } = toJobItem(after, rules);
  const names = Object.keys(columns);
  const [set, gone] = [names.filter(isSet), names.filter((name) => !isSet(name))];
  return {
    kind: 'update',
    key: { pk, sk },
    change: `SET ${set.map((name) => `#${name} = :${name}`).join(', ')}${
      gone.length === 0 ? '' : ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}`
    }`,
    condition: '#version = :seen',
    values: {
      ...Object.fromEntries(set.map((name) => [`:${name}`, columns[name]])),
      ':seen': expectedVersion,
    },
  };

  function isSet(name: string): boolean {
    return columns[name] !== undefined;
  }
}

/** Stores a copy of each event except `progress` by type, so that newest alerts need no scan of the log. */
function logEvent(event: JobEvent, ttls: ItemTtls): Write[] {
  const { job_id: jobId, sequence, type } = event;
  const content = { type, record: JSON.stringify(event), ttl: ttls.forJob(new Date(event.timestamp)) };
  const put = (key: ItemKey): Write => ({ kind: 'put', item: { ...key, ...content } });
  const first = put(itemKeys.event(jobId, sequence));
  return type === 'progress' ? [first] : [first, put(itemKeys.eventByType(jobId, type, sequence))];
}

/** Removes the job from the caller's slots. The slots are a set, so a repeated removal has no effect. */
function freeSlot(caller: string, jobId: string): Write {
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'DELETE #active :job',
    values: { ':job': new Set([jobId]) },
  };
}

function addToTotals(totals: Totals, jobId: string): Write {
  const added: Item = { ended: 1, ...totals };
  const names = Object.keys(added);
  return {
    kind: 'update',
    key: itemKeys.jobTotals(shardFor(jobId)),
    change: `ADD ${names.map((name) => `#${name} :${name}`).join(', ')}`,
    values: Object.fromEntries(names.map((name) => [`:${name}`, added[name]])),
  };
}

/** Removes the job from the active ones and sets the expiry of its source, which contains credentials. */
function afterwards({ job }: StoredJob, ttls: ItemTtls): Write[] {
  const expiresAt = job.expires_at;
  return [
    { kind: 'delete', key: itemKeys.active(job.run_id) },
    ...(expiresAt === null ? [] : [expireSource(job.source_id, ttls.afterExpiry(new Date(expiresAt)))]),
  ];
}
