import { z } from 'zod';
import { usageSchema } from '../../../../core/ports/runs.ts';
import {
  addIncrements,
  toIncrements,
  toReading,
  type MeterCounts,
} from '../../../../core/observability/meter-counts.ts';
import type { Meter, MeterReading } from '../../../../core/ports/usage.ts';
import { itemKeys, shards } from '../table/keys.ts';
import { readItem } from '../table/record.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';

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
