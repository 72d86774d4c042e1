import type { QueueMessage } from '../records/delivery.ts';
import { deliverEvent } from './deliver-event.ts';
import type { DeliverDeps, DeliveryOutcome } from './deliver-event.ts';
import { deliverWatchEvent } from './deliver-watch-event.ts';
import type { WatchDeliverDeps } from './deliver-watch-event.ts';
import { putOnBus } from './put-on-bus.ts';
import type { PutOnBusDeps } from './put-on-bus.ts';

export type DeliverMessageDeps = DeliverDeps & WatchDeliverDeps & PutOnBusDeps;

/** Handles a message of the delivery queue: an event of a job, of a watch for one destination, or of either for the event bus. */
export async function deliverMessage(
  message: QueueMessage,
  deps: DeliverMessageDeps,
): Promise<DeliveryOutcome> {
  if ('bus' in message) {
    await putOnBus(message, deps);
    return { kind: 'done' };
  }
  return 'watch_id' in message ? deliverWatchEvent(message, deps) : deliverEvent(message, deps);
}
