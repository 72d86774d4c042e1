import { z } from 'zod';
import { isTerminal } from '../../../core/records/job.ts';
import { readJobItem, toJobItem, type StoredJob } from './job-item.ts';
import { itemKeys, shards } from './keys.ts';
import type { ItemRules } from './item-rules.ts';
import { readItem } from './record.ts';
import { isUnpublished, toEpochMinute } from './repair-due.ts';
import { repair } from './table-layout.ts';
import type { Table } from './table.ts';
import type { Item } from './write.ts';

/**
 * Advances `published`. If no event is left to publish, updates the repair index entry: due at lease expiry, or
 * removed. This second write loses against any change of the job; the next mark or change corrects it. Until then,
 * a reader of the index finds nothing to repair.
 */
export async function markPublished(
  { table, ...rules }: { table: Table } & ItemRules,
  jobId: string,
  sequence: number,
): Promise<void> {
  const marked = await table.write({
    kind: 'update',
    key: itemKeys.job(jobId),
    change: 'SET #published = :sequence',
    condition: '#published < :sequence',
    values: { ':sequence': sequence },
  });
  if (marked.kind === 'refused' || marked.item === undefined) return;
  const stored = readJobItem(marked.item);
  const { repair_due: due, repair_shard: shard } = toJobItem(stored, rules);
  if (due === marked.item['repair_due']) return;
  await table.write({
    kind: 'update',
    key: itemKeys.job(jobId),
    ...(due === undefined
      ? { change: 'REMOVE #repair_due, #repair_shard', values: { ':seen': stored.job.version } }
      : {
          change: 'SET #repair_due = :due, #repair_shard = :shard',
          values: { ':due': due, ':shard': shard, ':seen': stored.job.version },
        }),
    condition: '#version = :seen',
  });
}

/**
 * Returns jobs due for repair, lost ones first: a receiver that is unreachable for long must not delay their
 * detection.
 */
export async function dueForRepair(
  { table, hasBus }: { table: Table; hasBus: boolean },
  now: Date,
  limit: number,
): Promise<string[]> {
  const candidates = await Promise.all(shards.map((shard) => findCandidates(table, shard, now, limit)));
  const jobs = (await table.getMany(candidates.flat())).map(readJobItem);
  const lost = jobs.filter((stored) => isLost(stored, now)).toSorted(byLease);
  const unpublished = jobs.filter(({ job, hook }) => isUnpublished(job, hook, hasBus));
  const due = new Set([...lost, ...unpublished].map(({ job }) => job.run_id));
  return [...due].slice(0, limit);
}

/** Returns the keys of jobs that are due, longest due first. */
async function findCandidates(table: Table, shard: string, now: Date, limit: number) {
  const items: Item[] = await table.query({
    index: repair.name,
    where: '#repair_shard = :shard AND #repair_due <= :minute',
    values: { ':shard': shard, ':minute': toEpochMinute(now) },
    limit,
  });
  return items.map((item) => readItem(keySchema, item));
}

const keySchema = z.object({ pk: z.string(), sk: z.string() });

function isLost({ job }: StoredJob, now: Date): boolean {
  return !isTerminal(job.status) && new Date(job.lease_until) < now;
}

function byLease(one: StoredJob, other: StoredJob): number {
  return Date.parse(one.job.lease_until) - Date.parse(other.job.lease_until);
}
