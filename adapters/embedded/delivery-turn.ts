import type { DeliveryMessage } from '../../core/records/delivery.ts';
import { rules } from '../../core/rules.ts';
import { jobLog, type Log } from '../../core/ports/log.ts';
import { ageSeconds } from '../../core/time.ts';
import type { DeliveryMessageTable, QueuedMessage } from './delivery-message-table.ts';
import type { SetTimer } from '../timer.ts';

/** 'again' keeps the message at the head of its job, invisible for so long. */
export type DeliveryOutcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };

/** Maximum time that a message stays invisible, in seconds: the longest `Retry-After`, which outlasts every pause after a fault. */
const maxInvisibleSeconds = rules.maxRetryAfterSeconds;

/** One that throws has its message again after 1, 2, 4, … 60 s. */
export type DeliveryHandler = (message: DeliveryMessage) => Promise<DeliveryOutcome>;

export type TurnOptions = {
  messages: DeliveryMessageTable;
  handler: DeliveryHandler;
  /** Never goes back: `steady-clock.ts`. */
  now: () => Date;
  setTimer: SetTimer;
  log: Log;
  visibilityMs: number;
};

/**
 * Has the head of a job handled. Returns until when (in milliseconds) the job has to wait because something failed. Never
 * throws: what fails is logged.
 */
export async function handleNextMessage(options: TurnOptions, jobId: string): Promise<number | undefined> {
  let head: QueuedMessage | undefined;
  try {
    head = options.messages.head(jobId);
    if (head !== undefined) await handle(options, head);
    return undefined;
  } catch (error) {
    logFailure(options, 'A delivery was not handled, and comes again', jobId, error);
    return postponeFailed(options, jobId, head);
  }
}

/** When (in milliseconds) the head of a job becomes visible; undefined where it has none. Never throws. */
export function readNextVisibility(options: TurnOptions, jobId: string): number | undefined {
  try {
    const head = options.messages.head(jobId);
    return head && visibleAt(head, options.now());
  } catch (error) {
    logFailure(options, 'The delivery queue cannot be read', jobId, error);
    return options.now().getTime() + backoffMs(0);
  }
}

/** A message that was written on a clock that was ahead, by an earlier process, does not wait for this one to catch up. */
function visibleAt(head: QueuedMessage, now: Date): number {
  return ageSeconds(now, new Date(head.visibleAt)) > maxInvisibleSeconds ? now.getTime() : head.visibleAt;
}

async function handle(options: TurnOptions, { position, failures, message }: QueuedMessage): Promise<void> {
  const outcome = await withinVisibility(options, options.handler(message));
  if (outcome.kind === 'done') options.messages.remove(position);
  else options.messages.postpone(position, inSeconds(options, outcome.afterSeconds), failures);
}

/** What a handler says after that time is not heard: its message is another turn's. */
async function withinVisibility(
  { setTimer, visibilityMs }: TurnOptions,
  handled: Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const overdue = new Error('The handler took longer than its message stays invisible');
  const cancel = setTimer(() => reject(overdue), visibilityMs);
  return Promise.race([handled, expired]).finally(cancel);
}

function postponeFailed(options: TurnOptions, jobId: string, head: QueuedMessage | undefined): number {
  const failures = head?.failures ?? 0;
  const until = options.now().getTime() + backoffMs(failures);
  try {
    if (head !== undefined) options.messages.postpone(head.position, until, failures + 1);
  } catch (error) {
    // A full disk: the message stays on it as it was, and the job waits all the same.
    logFailure(options, 'The delivery queue cannot be written', jobId, error);
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
