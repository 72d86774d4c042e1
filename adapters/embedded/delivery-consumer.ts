import { handleNextMessage, readNextVisibility, type TurnOptions } from './delivery-turn.ts';
import { createWaitingJobs } from './waiting-jobs.ts';

export type DeliveryConsumer = {
  /** Notifies the consumer of a new message for this job. */
  wake(jobId: string): void;
  /**
   * Stops taking messages and resolves when the handlers in flight have returned. A process can end earlier: the next start
   * handles their messages again.
   */
  close(): Promise<void>;
};

export type ConsumerOptions = TurnOptions & { concurrency: number };

/** Handles one message per job at a time, round-robin. Wake-up times are in memory, messages in SQLite. */
export function startDeliveryConsumer(options: ConsumerOptions): DeliveryConsumer {
  const waiting = createWaitingJobs();
  const turns = new Map<string, Promise<void>>();
  const closing = new AbortController();
  let cancelTimer: (() => void) | undefined;

  function dispatch(): void {
    cancelTimer?.();
    if (closing.signal.aborted) return;
    while (turns.size < options.concurrency) {
      const jobId = waiting.takeVisible(options.now().getTime());
      if (jobId === undefined) return wakeLater();
      turns.set(jobId, turn(jobId));
    }
  }

  async function turn(jobId: string): Promise<void> {
    // Yields first, so that `wake` returns before the handler starts.
    await Promise.resolve();
    const failedUntil = await handleNextMessage(options, jobId);
    // No `await` follows, so that a message sent now is either read as the next head or wakes its job.
    turns.delete(jobId);
    queueUp(jobId, failedUntil ?? readNextVisibility(options, jobId));
    dispatch();
  }

  function queueUp(jobId: string, visibleAt: number | undefined): void {
    if (visibleAt !== undefined) waiting.add(jobId, visibleAt);
  }

  function wakeLater(): void {
    const visibleAt = waiting.nextVisibleAt();
    if (visibleAt === undefined) return;
    const delayMs = Math.min(visibleAt - options.now().getTime(), maxTimerMs);
    cancelTimer = options.setTimer(dispatch, delayMs);
  }

  for (const jobId of options.messages.jobIds()) queueUp(jobId, readNextVisibility(options, jobId));
  dispatch();

  return {
    wake: (jobId) => {
      // A job that is being handled reads its next message after its turn.
      if (turns.has(jobId) || waiting.has(jobId)) return;
      queueUp(jobId, readNextVisibility(options, jobId));
      dispatch();
    },
    close: async () => {
      closing.abort();
      cancelTimer?.();
      await Promise.all(turns.values());
    },
  };
}

/** Maximum timer delay, in milliseconds: a timer does not fire when the clock is set forward, so the consumer checks again. */
const maxTimerMs = 60_000;
