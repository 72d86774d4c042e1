import type { Destinations } from '../../../core/ports/destinations.ts';
import type { WebhookResult } from '../../../core/ports/delivery.ts';
import type { Log } from '../../../core/ports/log.ts';
import type { HttpSender } from '../../destinations/http-sender.ts';
import { containExceptions } from '../load/contain-exceptions.ts';

/** Returns the sender; whatever it or a library throws is a failed attempt, so that the schedule of the delivery applies. */
export function containWebhooks(sender: HttpSender, log: Log): HttpSender {
  return { send: (request) => contain(() => sender.send(request), unexpected, log) };
}

/** Returns the destinations; whatever they or a library throw is a failed attempt, so that the schedule of the delivery applies. */
export function containDestinations(destinations: Destinations, log: Log): Destinations {
  return {
    ...destinations,
    send: (address, notification) =>
      contain(() => destinations.send(address, notification), { ...unexpected, outcome: 'retry' }, log),
    end: (address, open) => contain(() => destinations.end(address, open), unexpected.error, log),
  };
}

const unexpected: WebhookResult = {
  status: null,
  latencyMs: 0,
  error: 'The attempt failed unexpectedly; the log of the service has the reason',
  retryAfter: null,
};

async function contain<Result>(send: () => Promise<Result>, failure: Result, log: Log): Promise<Result> {
  try {
    return await containExceptions(send);
  } catch (error) {
    log.error('Delivery attempt failed unexpectedly', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return failure;
  }
}
