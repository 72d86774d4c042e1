import type { JobEvent } from '../../../core/records/event.ts';
import type { Job } from '../../../core/records/job.ts';
import { isRevoked } from '../../../core/records/key.ts';
import { envelopeWithImages } from '../../../core/event/present-event.ts';
import { tailEvents } from '../../../core/event/tail-events.ts';
import { KeyEndedError } from '../../../core/errors.ts';
import { jobLog } from '../../../core/ports/observability.ts';
import { isOver } from '../../../core/time.ts';
import {
  isTerminalEvent,
  formatError,
  formatEvent,
  heartbeatComment,
  formatRetry,
  type EventStreamDeps,
} from './messages.ts';

export type LogReader = {
  job: Job;
  after: number;
  /** Key that opened the stream; its revocation ends the stream. */
  keyHash: string;
  /** Aborts when the reader disconnects or the service shuts down. */
  signal: AbortSignal;
};

/**
 * Interval between key checks, in seconds. A stream wakes each 5 s at the latest, so a revocation takes effect within
 * 30 s.
 */
const keyCheckSeconds = 25;

/**
 * Generates the messages of an event stream: an opening, each event, and a heartbeat when idle. Ends with the first
 * terminal event, with the session, or if the store fails; the reader can resume. The end of its key is an error
 * outside of the log.
 */
export async function* jobMessages(reading: LogReader, deps: EventStreamDeps): AsyncGenerator<string> {
  try {
    yield* frames(reading, deps);
  } catch (error) {
    jobLog(deps.log, reading.job.run_id).warning('Event stream closed; its reader can resume', {
      error: String(error),
    });
  }
}

async function* frames({ job, after, keyHash, signal }: LogReader, deps: EventStreamDeps) {
  const { heartbeatSeconds, retryMilliseconds, signals, reads } = deps.eventStreams;
  const checkSession = watchSession(keyHash, deps);
  const tail = { runs: reads ?? deps.runs, now: deps.now, signals };
  yield formatRetry(retryMilliseconds);
  let takenAt = deps.steadyNow();
  for await (const event of tailEvents(job.run_id, after, tail, signal)) {
    const state = await checkSession();
    if (state === 'revoked') yield formatError(new KeyEndedError());
    if (state !== 'open') return;
    if (event) {
      yield await formatOnce(job, event, deps);
      if (isTerminalEvent(event.type)) return;
    } else if (isOver(takenAt, heartbeatSeconds, deps.steadyNow())) yield heartbeatComment;
    else continue;
    takenAt = deps.steadyNow();
  }
}

/**
 * Messages of this turn of the event loop, by the dependencies of their readers: links begin with the host that a
 * reader has called. Readers with shared reads have the same event, and its picture is read and encoded once.
 */
const formatted = new WeakMap<EventStreamDeps, WeakMap<JobEvent, Promise<string>>>();

async function formatOnce(job: Job, event: JobEvent, deps: EventStreamDeps): Promise<string> {
  const messages = formatted.get(deps) ?? new WeakMap<JobEvent, Promise<string>>();
  formatted.set(deps, messages);
  const cached = messages.get(event);
  if (cached !== undefined) return cached;
  const message = formatMessage(job, event, deps);
  messages.set(event, message);
  // A slow reader holds a page of events; their pictures must not stay with it.
  const forget = () => void setImmediate(() => messages.delete(event));
  message.then(forget, forget);
  return message;
}

async function formatMessage(job: Job, event: JobEvent, deps: EventStreamDeps): Promise<string> {
  return formatEvent(event.sequence, await envelopeWithImages(job, event, deps));
}

type SessionState = 'open' | 'over' | 'revoked';

/** Returns a function that checks the age of the session and its key. */
export function watchSession(
  keyHash: string,
  { keys, steadyNow, eventStreams: { sessionSeconds } }: EventStreamDeps,
) {
  const openedAt = steadyNow();
  let checkedAt = openedAt;
  return async (): Promise<SessionState> => {
    const sentAt = steadyNow();
    if (sessionSeconds !== null && isOver(openedAt, sessionSeconds, sentAt)) return 'over';
    if (!isOver(checkedAt, keyCheckSeconds, sentAt)) return 'open';
    checkedAt = sentAt;
    const key = await keys.find(keyHash);
    return key !== undefined && !isRevoked(key, sentAt) ? 'open' : 'revoked';
  };
}
