import { TransientError } from '../../../core/errors.ts';
import type { DestinationResult, Destinations } from '../../../core/ports/destinations.ts';
import type { Log } from '../../../core/ports/log.ts';
import { containExceptions } from '../load/contain-exceptions.ts';

/** Returns the destinations; whatever they or a library throw is a failed attempt, so that the schedule of the delivery applies. A transient error stays one. */
export function containDestinations(destinations: Destinations, log: Log): Destinations {
  return {
    ...destinations,
    send: (address, notification) => contain(() => destinations.send(address, notification), unexpected, log),
    sendEnvelope: (url, envelope) => contain(() => destinations.sendEnvelope(url, envelope), unexpected, log),
    end: (address, open) => contain(() => destinations.end(address, open), unexpectedly, log),
  };
}

const unexpectedly = 'The attempt failed unexpectedly; the log of the service has the reason';
const unexpected: DestinationResult = {
  status: null,
  latencyMs: 0,
  error: unexpectedly,
  retryAfter: null,
  outcome: 'retry',
};

async function contain<Result>(send: () => Promise<Result>, failure: Result, log: Log): Promise<Result> {
  try {
    return await containExceptions(send);
  } catch (error) {
    // The service may not read its own store: that says nothing about the receiver.
    if (error instanceof TransientError) throw error;
    log.error('Delivery attempt failed unexpectedly', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return failure;
  }
}
