import { z } from 'zod';
import { usageSchema } from './usage.ts';
import type { Counted, Meter, MeterReading } from '../../../../core/ports/meter.ts';
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
        await add(listIncrements(counted));
      } catch {
        // A failed count must not fail the counted operation.
      }
    },
    read: async () => {
      const began = await begin();
      const items = await table.getMany(shards.map(itemKeys.meterTotals));
      return { ...began, ...toReading(items) };
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

  async function add(increments: readonly Increment[]): Promise<void> {
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

type Increment = readonly [attribute: string, by: number];

function listIncrements(counted: Counted): Increment[] {
  switch (counted.kind) {
    case 'model_call':
      return [
        [`${callsPrefix}${counted.provider}`, 1],
        ...(counted.failed ? [[`${errorsPrefix}${counted.provider}`, 1] as const] : []),
      ];
    case 'direct_frame':
      return [['direct_frames', 1]];
    case 'watch_frame':
      return [[counted.skipped ? 'skipped_frames' : 'direct_frames', 1]];
    case 'delivery_attempt':
      return [];
    case 'delivery':
      return [[`${counted.isMail ? mailPrefix : ''}${counted.delivered ? 'delivered' : 'failed'}`, 1]];
    case 'moments_dropped':
      return [['moments_dropped', counted.count]];
    case 'search':
      return [
        ['searches', counted.isNew ? 1 : 0],
        ['search_calls', counted.calls],
        ['search_micro_usd', counted.microUsd],
      ];
  }
}

const mailPrefix = 'mails_';
const callsPrefix = 'model_calls:';
const errorsPrefix = 'model_errors:';

function toReading(items: Item[]): Omit<MeterReading, keyof Since> {
  const counts = new Map<string, number>();
  for (const [name, count] of items.flatMap((item) => Object.entries(readItem(countsSchema, item)))) {
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  const countFor = (name: string) => counts.get(name) ?? 0;
  const called = [...counts.keys()].filter((name) => name.startsWith(callsPrefix));
  const providers = called.map((name) => name.slice(callsPrefix.length)).toSorted();
  return {
    providers: Object.fromEntries(
      providers.map((provider) => [
        provider,
        { calls: countFor(`${callsPrefix}${provider}`), errors: countFor(`${errorsPrefix}${provider}`) },
      ]),
    ),
    directFrames: countFor('direct_frames'),
    skippedFrames: countFor('skipped_frames'),
    deliveries: { delivered: countFor('delivered'), failed: countFor('failed') },
    mails: { delivered: countFor(`${mailPrefix}delivered`), failed: countFor(`${mailPrefix}failed`) },
    searches: {
      searches: countFor('searches'),
      calls: countFor('search_calls'),
      microUsd: countFor('search_micro_usd'),
    },
    momentsDropped: countFor('moments_dropped'),
  };
}

/** Counts: all attributes except the key. */
const countsSchema = z
  .object({ pk: z.string(), sk: z.string() })
  .catchall(z.int())
  .transform(({ pk: _pk, sk: _sk, ...counts }) => counts);
