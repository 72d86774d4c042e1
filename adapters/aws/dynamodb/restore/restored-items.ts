import { z } from 'zod';
import { giveUp } from '../../../../core/delivery/after-attempt.ts';
import { hasEnded } from '../../../../core/event/stored-run.ts';
import { deliverySchema, destinationStateSchema } from '../../../../core/records/delivery.ts';
import { rules } from '../../../../core/rules.ts';
import type { ItemRules } from '../table/item-rules.ts';
import { itemTtls } from '../table/item-ttls.ts';
import { readItem, readRecord } from '../table/record.ts';
import { readProgressItem, toEpochMinute, toProgressItem, type StoredProgress } from '../runs/run-item.ts';
import type { Item, ItemKey } from '../table/write.ts';

/** Items of a table that was restored from a backup, as the live table receives them. The time since the backup is lost, but its effects outside are not. */

/** No event is unpublished, so a bus makes no difference. */
const itemRules: ItemRules = { ttls: itemTtls(), hasBus: false };

/**
 * Returns the item of a run. Its events count as published. A run that has not ended is due for repair immediately, which starts the execution of a
 * generation that no earlier execution has.
 */
export function restoreRunItem(item: Item, now: Date): ItemKey & Item {
  const stored = readProgressItem(item);
  const { progress } = stored;
  if (hasEnded(progress)) return toItem({ ...stored, published: progress.sequence });
  const sequence = progress.sequence + rules.restoredJump;
  const { state } = readItem(stateSchema, progress);
  const continued = {
    ...progress,
    sequence,
    generation: unusedGeneration(progress.generation, now),
    lease_until: now.toISOString(),
    execution_ticks: 0,
    burst: 0,
    ...(state && { state: { ...state, openings: state.openings + rules.restoredJump } }),
  };
  return toItem({ ...stored, progress: continued, published: sequence });

  /** Keeps the columns of the index of jobs. */
  function toItem(restored: StoredProgress): ItemKey & Item {
    return { ...item, ...toProgressItem(restored, itemRules) };
  }
}

/** State of a watch. */
const stateSchema = z.object({ state: z.looseObject({ openings: z.int() }).optional() });

/** Returns the item of a delivery. The queue has no message of a pending one any more, so it counts as failed. */
export function restoreDeliveryItem(item: Item): Item {
  const delivery = readRecord(deliverySchema, item);
  if (delivery.state !== 'pending') return item;
  return { ...item, record: JSON.stringify(giveUp(delivery, 'the service was restored from a backup')) };
}

/** Returns the item of a destination's state. No event waits any more, since its delivery has failed. */
export function restoreDestinationItem(item: Item): Item {
  const state = readRecord(destinationStateSchema, item);
  return { ...item, record: JSON.stringify({ ...state, waiting: [] }) };
}

/** Returns a number above those of all executions: names are taken for 90 days, and a generation takes more than a minute. */
function unusedGeneration(generation: number, now: Date): number {
  return Math.max(generation + 1, toEpochMinute(now));
}
