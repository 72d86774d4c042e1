import type { DeliveryOutcome } from '../ports/delivery.ts';
import type { QueueMessage } from '../records/delivery.ts';
import { deliver } from './deliver.ts';
import type { DeliverDeps } from './delivery-target.ts';
import { putOnBus } from './put-on-bus.ts';
import type { PutOnBusDeps } from './put-on-bus.ts';

export type DeliverMessageDeps = DeliverDeps & PutOnBusDeps;

/** Handles a message of the delivery queue: an event for one destination of its run, or for the event bus. */
export async function deliverMessage(
  message: QueueMessage,
  deps: DeliverMessageDeps,
): Promise<DeliveryOutcome> {
  if (!('bus' in message)) return deliver(message, deps);
  await putOnBus(message, deps);
  return { kind: 'done' };
}
