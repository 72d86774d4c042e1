import type { DeliveryMessage } from '../../core/records/delivery.ts';
import { rules } from '../../core/rules.ts';
import { jobLog, type Log } from '../../core/ports/log.ts';
import { ageSeconds } from '../../core/time.ts';
import type { DeliveryMessageTable, QueuedMessage } from './delivery-message-table.ts';
import { waitAtMost, type SetTimer } from '../../core/time-limit.ts';

/** Result of a handler. 'again' keeps the message at the head of its job, invisible for `afterSeconds`. */
export type DeliveryOutcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };

/** Maximum time that a message stays invisible, in seconds: the longest `Retry-After`, which exceeds every backoff. */
const maxInvisibleSeconds = rules.maxRetryAfterSeconds;

/** Handler of one message. If it throws, the message is handled again after 1, 2, 4, … 60 s. */
export type DeliveryHandler = (message: DeliveryMessage) => Promise<DeliveryOutcome>;

export type TurnOptions = {
  messages: DeliveryMessageTable;
  handler: DeliveryHandler;
  /** Monotonic time (`steady-clock.ts`). */
  now: () => Date;
  setTimer: SetTimer;
  log: Log;
  visibilityMs: number;
};

/**
 * Handles the head of a job. Returns the time until which the job waits after a failure, in epoch milliseconds. Logs failures,
 * never throws.
 */
export async function handleNextMessage(options: TurnOptions, jobId: string): Promise<number | undefined> {
  let head: QueuedMessage | undefined;
  try {
    head = options.messages.head(jobId);
    if (head !== undefined) await handle(options, head);
    return undefined;
  } catch (error) {
    logFailure(options, 'Delivery message failed, returned to the queue', jobId, error);
    return postponeFailed(options, jobId, head);
  }
}

/**
 * Returns the time at which the head of a job becomes visible, in epoch milliseconds, or undefined if the job has no message.
 * Never throws.
 */
export function readNextVisibility(options: TurnOptions, jobId: string): number | undefined {
  try {
    const head = options.messages.head(jobId);
    return head && visibleAt(head, options.now());
  } catch (error) {
    logFailure(options, 'Delivery queue could not be read', jobId, error);
    return options.now().getTime() + backoffMs(0);
  }
}

/** Ignores a visibility time beyond the maximum: an earlier process wrote it with a clock that was ahead. */
function visibleAt(head: QueuedMessage, now: Date): number {
  return ageSeconds(now, new Date(head.visibleAt)) > maxInvisibleSeconds ? now.getTime() : head.visibleAt;
}

async function handle(options: TurnOptions, { position, failures, message }: QueuedMessage): Promise<void> {
  const outcome = await withinVisibility(options, options.handler(message));
  if (outcome.kind === 'done') options.messages.remove(position);
  else options.messages.postpone(position, inSeconds(options, outcome.afterSeconds), failures);
}

/** Rejects after the visibility time. A later result is dropped, because another turn has the message by then. */
function withinVisibility(
  { setTimer, visibilityMs }: TurnOptions,
  handled: Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  const expire = (): never => {
    throw new Error('The handler took longer than its message stays invisible');
  };
  return waitAtMost(visibilityMs, handled, expire, setTimer);
}

function postponeFailed(options: TurnOptions, jobId: string, head: QueuedMessage | undefined): number {
  const failures = head?.failures ?? 0;
  const until = options.now().getTime() + backoffMs(failures);
  try {
    if (head !== undefined) options.messages.postpone(head.position, until, failures + 1);
  } catch (error) {
    // The disk may be full: the stored message stays unchanged, and the job still waits.
    logFailure(options, 'Delivery queue could not be written', jobId, error);
  }
  return until;
}

function inSeconds({ now }: TurnOptions, seconds: number): number {
  return now().getTime() + Math.round(1000 * Math.min(seconds, maxInvisibleSeconds));
}

function backoffMs(failures: number): number {
  return Math.min(60_000, 1_000 * 2 ** failures);
}

function logFailure({ log }: TurnOptions, message: string, jobId: string, error: unknown): void {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  jobLog(log, jobId).error(message, { error: reason });
}
