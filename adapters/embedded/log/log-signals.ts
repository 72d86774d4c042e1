import type { LogSignals } from '../../../core/ports/event-sessions.ts';
import type { SetTimer } from '../../../core/time-limit.ts';

/**
 * Longest wait for a change, in milliseconds. Commits wake readers, so this only bounds the delay of heartbeats, of key
 * checks and of the end of a removed job.
 */
const maxWaitMs = 5000;

export type EmbeddedLogSignals = LogSignals & {
  /** Wakes the readers of a log. Call it after the commit. */
  notify(logId: string): void;
};

type Reader = { hasChanged: boolean; wake: () => void };

/** Creates the signals of one process: a commit wakes the readers of its log. */
export function createLogSignals(setTimer: SetTimer): EmbeddedLogSignals {
  const readers = new Map<string, Set<Reader>>();
  return {
    notify: (logId) => {
      for (const reader of readers.get(logId) ?? []) {
        reader.hasChanged = true;
        reader.wake();
      }
    },
    watch: (logId) => {
      const reader: Reader = { hasChanged: false, wake: () => undefined };
      const all = readers.get(logId) ?? new Set();
      readers.set(logId, all.add(reader));
      return {
        changed: async (signal) => {
          if (!reader.hasChanged) await nextWake(reader, signal, setTimer);
          reader.hasChanged = false;
        },
        end: () => {
          all.delete(reader);
          if (all.size === 0 && readers.get(logId) === all) readers.delete(logId);
        },
      };
    },
  };
}

async function nextWake(reader: Reader, signal: AbortSignal, setTimer: SetTimer): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const wake = () => {
      cancelTimer();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const cancelTimer = setTimer(wake, maxWaitMs);
    signal.addEventListener('abort', wake, { once: true });
    reader.wake = wake;
  });
  reader.wake = () => undefined;
}
