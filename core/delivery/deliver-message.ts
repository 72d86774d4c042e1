import type { QueueMessage } from '../records/delivery.ts';
import { deliverEvent } from './deliver-event.ts';
import type { DeliverDeps, DeliveryOutcome } from './deliver-event.ts';
import { deliverWatchEvent } from './deliver-watch-event.ts';
import type { WatchDeliverDeps } from './deliver-watch-event.ts';

export type DeliverMessageDeps = DeliverDeps & WatchDeliverDeps;

/** Handles a message of the delivery queue: an event of a job, or of a watch for one destination. */
export async function deliverMessage(
  message: QueueMessage,
  deps: DeliverMessageDeps,
): Promise<DeliveryOutcome> {
  return 'watch_id' in message ? deliverWatchEvent(message, deps) : deliverEvent(message, deps);
}
