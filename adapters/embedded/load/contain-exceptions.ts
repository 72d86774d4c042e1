import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import { TransientError } from '../../../core/errors.ts';
import type { Cameras } from '../../../core/ports/cameras.ts';
import type { DestinationResult, Destinations } from '../../../core/ports/delivery.ts';
import type { ScanningCapturer } from '../../../core/ports/stream-capturer.ts';
import type { Log } from '../../../core/ports/observability.ts';

/** Fails the work whose callback has thrown. Returns false if the work has ended: what it has opened may stay. */
const running = new AsyncLocalStorage<(error: Error) => boolean>();

/**
 * Runs work so that an exception in one of its callbacks rejects it instead of ending the process: a library may throw
 * in the callback of a socket, where no `try` reaches. Needs `watchExceptions`. The context of a callback is that of
 * the work which opened its socket or timer.
 */
export function containExceptions<Result>(work: () => Promise<Result>): Promise<Result> {
  const failed = Promise.withResolvers<never>();
  let isRunning = true;
  const fail = (error: Error): boolean => {
    failed.reject(error);
    return isRunning;
  };
  return running.run(fail, () =>
    Promise.race([work(), failed.promise]).finally(() => {
      isRunning = false;
    }),
  );
}

/** Returns the capturer; what a library throws in a callback fails the capture. */
export function containStreams({
  probe,
  capture,
  picture,
  follow,
  clip,
}: ScanningCapturer): ScanningCapturer {
  return {
    probe: (...given) => containExceptions(() => probe(...given)),
    capture: (...given) => containExceptions(() => capture(...given)),
    picture: (...given) => containExceptions(() => picture(...given)),
    ...(follow && { follow: (...given) => containExceptions(() => follow(...given)) }),
    ...(clip && { clip: (...given) => containExceptions(() => clip(...given)) }),
  };
}

/** Returns the cameras; what a library throws in a callback fails the call. */
export function containCameras({ discover, readStreams }: Cameras): Cameras {
  return {
    discover: (...given) => containExceptions(() => discover(...given)),
    readStreams: (...given) => containExceptions(() => readStreams(...given)),
  };
}

/**
 * Returns the destinations; whatever they or a library throw is a failed attempt, so that the schedule of the delivery
 * applies. A transient error stays one.
 */
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

/**
 * Makes contained exceptions reject their work, and reports those of work that has ended. Any other exception ends the
 * process, as without this. Returns a function that stops it.
 */
export function watchExceptions(process: EventEmitter, report: (error: Error) => void): () => void {
  const failWork = (error: Error): void => {
    const fail = running.getStore();
    if (fail === undefined) throw error;
    if (!fail(error)) report(error);
  };
  process.on('uncaughtException', failWork);
  return () => void process.off('uncaughtException', failWork);
}
