import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { z } from 'zod';
import { giveUp } from '../../../core/delivery/after-attempt.ts';
import { hasEnded } from '../../../core/event/stored-run.ts';
import { deliverySchema, destinationStateSchema } from '../../../core/records/delivery.ts';
import { sourceSchema } from '../../../core/records/job.ts';
import { rules } from '../../../core/rules.ts';
import { systemBackoff } from '../../retry-with-backoff.ts';
import { readProgressItem, readRunItems, toEpochMinute, toProgressItem } from './runs/run-item.ts';
import { itemTtls } from './table/item-ttls.ts';
import { sortPrefixes } from './table/keys.ts';
import { openTable } from './table/open-table.ts';
import { readItem, readKey, readRecord } from './table/record.ts';
import { keyPrefixes } from './table/table-layout.ts';
import type { Item, ItemKey } from './table/table.ts';

export type MarkRestoredDeps = { client: DynamoDBClient; tableName: string; now: () => Date };

const writesAtOnce = 25;

/**
 * Marks a table as restored from a backup, before functions use it, as `markRestored` of one machine does: the time
 * since the backup is lost, but its effects outside are not. A repetition after an interruption marks all runs again,
 * which does no harm. Returns the number of changed items. Throws `StorageError` for records of another version, before
 * it changes any.
 */
export async function markTableRestored({ client, tableName, now }: MarkRestoredDeps): Promise<number> {
  const table = openTable({ client, tableName, newId: randomUUID, ...systemBackoff });
  const documents = DynamoDBDocumentClient.from(client);
  const scan = () => paginateScan({ client: documents }, { TableName: tableName });
  const restoredAt = now();
  await verifyItems(scan(), restoredAt);
  let written = 0;
  for await (const { Items: items = [] } of scan()) {
    const changed = items.flatMap((item) => markItem(item, restoredAt) ?? []);
    for (let from = 0; from < changed.length; from += writesAtOnce) {
      const puts = changed.slice(from, from + writesAtOnce).map((item) => table.write({ kind: 'put', item }));
      written += (await Promise.all(puts)).length;
    }
  }
  return written;
}

/**
 * Reads runs and sources as functions do, and all other items that a restore changes. An expiry may have removed one of
 * the two items of a run.
 */
async function verifyItems(pages: ReturnType<typeof paginateScan>, now: Date): Promise<void> {
  const halves = new Map<string, Item>();
  for await (const { Items: items = [] } of pages)
    for (const item of items) {
      markItem(item, now);
      const { pk, sk } = readKey(item);
      if (pk.startsWith(keyPrefixes.source)) readRecord(sourceSchema, item);
      if (!pk.startsWith(keyPrefixes.run) || (sk !== 'META' && sk !== 'RUN')) continue;
      const half = halves.get(pk);
      const [meta, run] = sk === 'META' ? [item, half] : [half, item];
      readRunItems(meta, run);
      if (half === undefined) halves.set(pk, item);
      else halves.delete(pk);
    }
}

/**
 * Returns the item as functions may meet it, with its other columns. Returns undefined for one that needs no change.
 */
function markItem(item: Item, now: Date): (ItemKey & Item) | undefined {
  const key = readKey(item);
  const marked = mark();
  return marked && { ...item, ...marked, ...key };

  function mark(): Item | undefined {
    if (!key.pk.startsWith(keyPrefixes.run)) return undefined;
    if (key.sk === 'RUN') return markRun(item, now);
    if (key.sk.startsWith(sortPrefixes.delivery)) return markDelivery(item);
    return key.sk.startsWith(sortPrefixes.destination) ? markDestination(item) : undefined;
  }
}

/**
 * Sequences and ids of alerts continue above those that the lost time gave out, which receivers would take for
 * repetitions, and events of the backup count as published. A run that has not ended is due for repair immediately,
 * which starts the execution of a generation that no earlier one has: names are taken for 90 days, and a generation
 * takes more than a minute.
 */
function markRun(item: Item, now: Date): Item {
  const stored = readProgressItem(item);
  const { progress } = stored;
  const sequence = progress.sequence + rules.restoredJump;
  const state = stored.policy === 'watch' ? readItem(stateSchema, progress).state : undefined;
  const marked = hasEnded(progress)
    ? progress
    : {
        ...progress,
        sequence,
        generation: Math.max(progress.generation + 1, toEpochMinute(now)),
        lease_until: now.toISOString(),
        execution_ticks: 0,
        burst: 0,
        ...(state && { state: { ...state, openings: state.openings + rules.restoredJump } }),
      };
  // No event is unpublished, so a bus makes no difference.
  const itemRules = { ttls: itemTtls(), hasBus: false };
  return toProgressItem({ ...stored, progress: marked, published: marked.sequence }, itemRules);
}

/** The queue has no message of a pending delivery any more. */
function markDelivery(item: Item): Item | undefined {
  const delivery = readRecord(deliverySchema, item);
  if (delivery.state !== 'pending') return undefined;
  return { record: JSON.stringify(giveUp(delivery, 'the service was restored from a backup')) };
}

/** No event waits for a destination any more, since its delivery has failed. */
function markDestination(item: Item): Item | undefined {
  const state = readRecord(destinationStateSchema, item);
  return state.waiting.length === 0 ? undefined : { record: JSON.stringify({ ...state, waiting: [] }) };
}

const stateSchema = z.object({ state: z.looseObject({ openings: z.int() }) });
