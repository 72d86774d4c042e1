import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';

/** Fails the work whose callback has thrown. */
const running = new AsyncLocalStorage<(error: Error) => void>();

/**
 * Runs work so that an exception in one of its callbacks rejects it instead of ending the process: a library may throw in the callback of a socket,
 * where no `try` reaches. Needs `watchExceptions`. The context of a callback is that of the work which opened its socket or timer.
 */
export function containExceptions<Result>(work: () => Promise<Result>): Promise<Result> {
  const failed = Promise.withResolvers<never>();
  return running.run(failed.reject, () => Promise.race([work(), failed.promise]));
}

/** Makes contained exceptions reject their work. Any other exception ends the process, as without this. Returns a function that stops it. */
export function watchExceptions(process: EventEmitter): () => void {
  process.on('uncaughtException', failWork);
  return () => void process.off('uncaughtException', failWork);
}

function failWork(error: Error): void {
  const fail = running.getStore();
  if (fail === undefined) throw error;
  fail(error);
}
