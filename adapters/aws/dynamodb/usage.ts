import { z } from 'zod';
import { countersSchema, noCounts, type Job } from '../../../core/job.ts';
import type { Totals, Usage } from '../../../core/ports/job-store.ts';
import { isTerminal } from '../../../core/transitions.ts';
import { usageOf } from '../../embedded/usage.ts';
import { readJobItem } from './job-item.ts';
import { untilAnswered, type Patience } from './jitter.ts';
import { activePartition, keyOf, shards } from './keys.ts';
import { readItem } from './record.ts';
import type { Table } from './table.ts';
import type { Item } from './write.ts';

/**
 * Totals of ended jobs and the counters of active ones. A job and the totals that it ends in are in one shard, and are read as they
 * stood at one moment: so each job counts once, however it ends meanwhile. Shards are read one beside the other.
 */
export async function readUsage(table: Table, patience: Patience): Promise<Usage> {
  const parts = await Promise.all(
    shards.map((shard) => untilAnswered(() => usageOfShard(table, shard), patience)),
  );
  return parts.reduce(sum);
}

/** With the totals, 100 items: the limit of TransactGetItems. */
const jobsAtOnce = 99;

/** undefined: a job of the shard ended between two parts of the reading. */
async function usageOfShard(table: Table, shard: string): Promise<Usage | undefined> {
  const jobIds = await activeIn(table, shard);
  const active: Job[] = [];
  let ended: Totals | undefined;
  let endedBefore: number | undefined;
  for (let from = 0; from === 0 || from < jobIds.length; from += jobsAtOnce) {
    const keys = jobIds.slice(from, from + jobsAtOnce).map(keyOf.job);
    const [totals, ...items] = await table.snapshot([keyOf.jobTotals(shard), ...keys]);
    const { ended: count, ...read } = readItem(totalsSchema, { ...nothing, ...totals });
    if (endedBefore !== undefined && endedBefore !== count) return undefined;
    [ended, endedBefore] = [read, count];
    active.push(...items.flatMap(activeJob));
  }
  return ended && usageOf(ended, active);
}

async function activeIn(table: Table, shard: string): Promise<string[]> {
  const items = await table.query({ where: '#pk = :shard', values: { ':shard': activePartition(shard) } });
  return items.map((item) => readItem(z.object({ sk: z.string() }), item).sk);
}

/** A job that has ended since it was listed is in the totals of the same moment. */
function activeJob(item: Item | undefined): Job[] {
  const job = item && readJobItem(item).job;
  return job && !isTerminal(job.status) ? [job] : [];
}

function sum(one: Usage, other: Usage): Usage {
  const added = { ...one };
  for (const counter of usageSchema.keyof().options) added[counter] += other[counter];
  return added;
}

const countSchema = z.int().nonnegative();

const totalsSchema = countersSchema.extend({
  jobs_completed: countSchema,
  jobs_stopped: countSchema,
  jobs_failed: countSchema,
  /** How many jobs have ended: changes with every end. */
  ended: countSchema,
});

export const usageSchema = totalsSchema.omit({ ended: true }).extend({ jobs_created: countSchema });

const nothing = { jobs_completed: 0, jobs_stopped: 0, jobs_failed: 0, ...noCounts, ended: 0 };
