import { handleNextMessage, readNextVisibility, type TurnOptions } from './delivery-turn.ts';
import { createWaitingJobs } from './waiting-jobs.ts';

export type DeliveryConsumer = {
  /** A message of this job was sent. */
  wake(jobId: string): void;
  /**
   * Hands out nothing more, and resolves when the handlers in flight have returned. A process that cannot wait for them may
   * end: their messages are handed out again at its next start.
   */
  close(): Promise<void>;
};

export type ConsumerOptions = TurnOptions & { concurrency: number };

/**
 * Gives each job one turn at a time: its head is handled, then the job queues up again behind the others. Who waits until
 * when is kept in memory, as one process owns the queue; the messages and their visibility are on disk.
 */
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
    // Who sends a message does not wait for the first steps of its handler.
    await Promise.resolve();
    const failedUntil = await handleNextMessage(options, jobId);
    // Without a pause from here on: a message sent meanwhile is either seen as the next head, or wakes its job.
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
      // A job in its turn looks for its next head by itself.
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

/** No timer fires when the clock is set forward: look again now and then. */
const maxTimerMs = 60_000;
