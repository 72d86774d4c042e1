import { giveUp } from '../../../../core/delivery/after-attempt.ts';
import { deliverySchema, destinationStateSchema } from '../../../../core/records/delivery.ts';
import { isTerminal } from '../../../../core/records/job.ts';
import { rules } from '../../../../core/rules.ts';
import type { ItemRules } from '../item-rules.ts';
import { itemTtls } from '../item-ttls.ts';
import { readJobItem, toJobItem } from '../job-item.ts';
import { readRecord } from '../record.ts';
import { toEpochMinute } from '../repair-due.ts';
import { readRunItem, toRunItem } from '../watch-item.ts';
import type { Item, ItemKey } from '../write.ts';

/** Items of a table that was restored from a backup, as the live table receives them. The time since the backup is lost, but its effects outside are not. */

/** No event is unpublished, so a bus makes no difference. */
const itemRules: ItemRules = { ttls: itemTtls(), hasBus: false };

/**
 * Returns the item of a job. Its events count as published. An active job is due for repair immediately, which starts the execution of a
 * generation that no earlier execution has.
 */
export function restoreJobItem(item: Item, now: Date): ItemKey & Item {
  const stored = readJobItem(item);
  const { job } = stored;
  if (isTerminal(job.status))
    return toJobItem({ ...stored, job: { ...job, published: job.sequence } }, itemRules);
  const sequence = job.sequence + rules.restoredJump;
  const lease = { lease_until: now.toISOString(), burst: 0, execution_ticks: 0 };
  const numbers = { sequence, published: sequence, generation: unusedGeneration(job.generation, now) };
  return toJobItem({ ...stored, job: { ...job, ...lease, ...numbers } }, itemRules);
}

/** Returns the run of a watch, with the same changes as for a job. */
export function restoreRunItem(item: Item, now: Date): ItemKey & Item {
  const stored = readRunItem(item);
  const { run } = stored;
  const sequence = run.sequence + rules.restoredJump;
  const { openings } = run.state;
  const restored = {
    ...stored,
    run: {
      ...run,
      sequence,
      published: sequence,
      generation: unusedGeneration(run.generation, now),
      lease_until: now.toISOString(),
      burst: 0,
      execution_ticks: 0,
      state: { ...run.state, openings: openings + rules.restoredJump },
    },
  };
  return toRunItem(restored, itemRules);
}

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
