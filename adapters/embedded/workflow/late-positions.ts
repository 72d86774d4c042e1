import type { Log } from '../../../core/ports/log.ts';
import type { SetTimer } from '../../../core/time-limit.ts';
import type { ExecutionStore, Position } from './execution-store.ts';

export type LatePositionsDeps = { store: ExecutionStore; setTimer: SetTimer; log: Log };

export type LatePositions = ExecutionStore & {
  /** Writes the positions that wait, for the end of the process. A failure is logged: the next start then repeats steps. */
  close(): void;
};

/** Time for which positions wait: most checks end in it, and so write one position instead of two. */
const delayMs = 250;
const retryMs = 5000;

/**
 * Returns a store that writes the positions of running executions together, a quarter of a second later. A kill takes back at most that much: the steps
 * after an older position run again, which each step allows. Starts and ends of executions are written immediately.
 */
export function writePositionsLate({ store, setTimer, log }: LatePositionsDeps): LatePositions {
  const waiting = new Map<string, Position>();
  let cancelTimer: (() => void) | undefined;
  let hasFailed = false;
  return {
    insert: store.insert,
    save: (name, progress, dataText) => {
      if (progress.status === 'running') {
        if (!store.isRunning(name)) return false;
        waiting.set(name, { progress, dataText });
        schedule(delayMs);
        return true;
      }
      const saved = store.save(name, progress, dataText);
      waiting.delete(name);
      return saved;
    },
    saveAll: store.saveAll,
    isRunning: store.isRunning,
    find: (name) => {
      flush();
      return store.find(name);
    },
    running: () => {
      flush();
      return store.running();
    },
    prune: store.prune,
    close: () => {
      tryFlush();
      cancelTimer?.();
    },
  };

  function schedule(ms: number): void {
    cancelTimer ??= setTimer(() => {
      cancelTimer = undefined;
      tryFlush();
    }, ms);
  }

  function tryFlush(): void {
    try {
      flush();
      hasFailed = false;
    } catch (error) {
      // The executions continue: their next positions are written instead.
      if (!hasFailed) log.error('Positions of the workflow not stored, retrying', { error: String(error) });
      hasFailed = true;
      schedule(retryMs);
    }
  }

  function flush(): void {
    if (waiting.size === 0) return;
    store.saveAll(waiting);
    waiting.clear();
  }
}
