import { z } from 'zod';
import { countersSchema, isTerminal, jobStatusSchema, type Job } from '../../../../core/records/job.ts';
import {
  type Usage,
  sumUsage,
  usageSchema,
  noTotals,
  totalsSchema,
  type Totals,
} from '../../../../core/ports/runs.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { retryWithJitter } from '../table/retries.ts';
import { activePartition, itemKeys, shards, callerPartition, sortPrefixes } from '../table/keys.ts';
import { readItem, readRecord } from '../table/record.ts';
import type { Table, Item } from '../table/table.ts';
import {
  useRetentionDays,
  type UsageLedger,
  type Meter,
  type MeterReading,
} from '../../../../core/ports/usage.ts';
import { amountsOfUse, callerUseSchema, noUse } from '../../../../core/records/caller.ts';
import {
  addIncrements,
  toIncrements,
  toReading,
  type MeterCounts,
} from '../../../../core/observability/meter-counts.ts';

/**
 * Sums the totals of ended jobs and the counters of active ones. A job and its totals are in one shard and are read
 * at one point in time. So each job counts once, even if it ends meanwhile. Shards are read concurrently.
 */
export async function readUsage(table: Table, backoff: BackoffDeps): Promise<Usage> {
  const parts = await Promise.all(
    shards.map((shard) => retryWithJitter(() => usageOfShard(table, shard), backoff)),
  );
  return parts.reduce(sum);
}

/** Jobs per TransactGetItems: its limit is 100 items, and one holds the totals. */
const jobsAtOnce = 99;

/** Sums one shard. Returns undefined if a job of the shard ended between two reads. */
async function usageOfShard(table: Table, shard: string): Promise<Usage | undefined> {
  const jobIds = await activeIn(table, shard);
  const active: Pick<Job, 'counters'>[] = [];
  let ended: Totals | undefined;
  let endedBefore: number | undefined;
  for (let from = 0; from === 0 || from < jobIds.length; from += jobsAtOnce) {
    const keys = jobIds.slice(from, from + jobsAtOnce).map(itemKeys.run);
    const [totals, ...items] = await table.snapshot([itemKeys.jobTotals(shard), ...keys]);
    const { ended: count, ...read } = readItem(endedSchema, { ...noTotals, ended: 0, ...totals });
    if (endedBefore !== undefined && endedBefore !== count) return undefined;
    [ended, endedBefore] = [read, count];
    active.push(...items.flatMap(activeJob));
  }
  return ended && sumUsage(ended, active);
}

async function activeIn(table: Table, shard: string): Promise<string[]> {
  const items = await table.query({ where: '#pk = :shard', values: { ':shard': activePartition(shard) } });
  return items.map((item) => readItem(z.object({ sk: z.string() }), item).sk);
}

/** A job that has ended since is already in the totals of the same snapshot. */
function activeJob(item: Item | undefined): Pick<Job, 'counters'>[] {
  const job = item && readRecord(activeSchema, item);
  return job && !isTerminal(job.status) ? [job] : [];
}

function sum(one: Usage, other: Usage): Usage {
  const added = { ...one };
  for (const counter of usageSchema.keyof().options) added[counter] += other[counter];
  return added;
}

const activeSchema = z.object({ status: jobStatusSchema, counters: countersSchema });

/** `ended` is the number of ended jobs, which detects an end between two reads. */
const endedSchema = totalsSchema.extend({ ended: z.int().nonnegative() });

/**
 * Creates the ledger of the use of callers: one item per caller and day, which counts write without reading, except the
 * first of a day.
 */
export function createUsageLedger(table: Table): UsageLedger {
  return {
    add: async (caller, day, use) => {
      const added = amountsOfUse.filter((name) => use[name] > 0);
      const ttl = Math.ceil(Date.parse(day) / 1000) + (useRetentionDays + 1) * 86_400;
      const key = itemKeys.callerUse(caller, day);
      const result = await table.write({
        kind: 'update',
        key,
        change: `SET #ttl = :ttl ADD ${added.map((name) => `#${name} :${name}`).join(', ')}`,
        values: { ':ttl': ttl, ...Object.fromEntries(added.map((name) => [`:${name}`, use[name]])) },
      });
      const item = result.kind === 'written' ? result.item : undefined;
      const isFirst = added.every((name) => item?.[name] === use[name]);
      // A check under way counts after its caller is erased. The eraser removes the caller before it removes items for
      // the last time: one of both removes this one.
      if (isFirst && !(await table.get(itemKeys.caller(caller)))) await table.write({ kind: 'delete', key });
    },
    days: async (caller, from, to) => {
      const items = await table.query({
        where: '#pk = :caller AND #sk BETWEEN :from AND :to',
        values: {
          ':caller': callerPartition(caller),
          ':from': `${sortPrefixes.use}${from}`,
          ':to': `${sortPrefixes.use}${to}`,
        },
      });
      return items.map((item) => {
        const { sk, ...use } = readItem(itemSchema, { ...noUse, ...item });
        return { day: sk.slice(sortPrefixes.use.length), use };
      });
    },
  };
}

const itemSchema = callerUseSchema.extend({ sk: z.string() });

type Since = Pick<MeterReading, 'startedAt' | 'jobsBefore'>;

/** Dependencies of the meter. `since` returns the start of counting, if the table has none yet. */
export type MeterDeps = { table: Table; random: () => number; since: () => Since };

/** Creates a meter in the table, for all functions and deployments. Each count adds to one of 16 items. */
export function createMeter({ table, random, since }: MeterDeps): Meter {
  let begun: Promise<Since> | undefined;
  return {
    count: async (counted) => {
      try {
        await begin();
        await add(toIncrements(counted));
      } catch {
        // A failed count must not fail the counted operation.
      }
    },
    read: async () => {
      const began = await begin();
      const counts: MeterCounts = new Map();
      for (const item of await table.getMany(shards.map(itemKeys.meterTotals)))
        if (item) addIncrements(counts, Object.entries(readItem(countsSchema, item)));
      return { ...began, ...toReading(counts) };
    },
  };

  async function begin(): Promise<Since> {
    begun ??= readOrStoreStart(table, since());
    try {
      return await begun;
    } catch (error) {
      begun = undefined;
      throw error;
    }
  }

  async function add(increments: ReturnType<typeof toIncrements>): Promise<void> {
    if (increments.length === 0) return;
    const shard = shards[Math.floor(random() * shards.length)] ?? '0';
    await table.write({
      kind: 'update',
      key: itemKeys.meterTotals(shard),
      change: `ADD ${increments.map((_, index) => `#count${index} :by${index}`).join(', ')}`,
      names: Object.fromEntries(increments.map(([name], index) => [`#count${index}`, name])),
      values: Object.fromEntries(increments.map(([, by], index) => [`:by${index}`, by])),
    });
  }
}

/** Stores the start of counting unless it exists, and returns the stored one. */
async function readOrStoreStart(table: Table, { startedAt, jobsBefore }: Since): Promise<Since> {
  const content = { started_at: startedAt.toISOString(), jobs_before: jobsBefore };
  const stored = await table.get(itemKeys.meterStart());
  if (stored) return toSince(stored);
  const item = { ...itemKeys.meterStart(), ...content };
  const written = await table.write({ kind: 'put', item, condition: 'attribute_not_exists(#pk)' });
  return toSince(written.kind === 'written' ? item : await table.get(itemKeys.meterStart()));
}

function toSince(item: Item | undefined): Since {
  const { started_at: startedAt, jobs_before: jobsBefore } = readItem(sinceSchema, item);
  return { startedAt: new Date(startedAt), jobsBefore };
}

const sinceSchema = z.object({ started_at: z.iso.datetime(), jobs_before: usageSchema });

/** Counts: all attributes except the key. */
const countsSchema = z
  .object({ pk: z.string(), sk: z.string() })
  .catchall(z.int())
  .transform(({ pk: _pk, sk: _sk, ...counts }) => counts);
