import type { Context } from 'hono';
import { RateLimitedError } from '../../../core/errors.ts';
import { isTerminal, type Job } from '../../../core/records/job.ts';
import type { EventSession, EventStreamReader } from '../../../core/ports/event-sessions.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { byteStream, type EventStreamDeps, readLastEventId } from './messages.ts';
import { jobMessages } from './job-messages.ts';

/**
 * Responds with the job's events after its last event id, else after `after`, and with new events until the first
 * terminal one. Responds with 204 if the log has ended and the reader has all of it, so that an EventSource stops
 * reconnecting. Throws
 * `RateLimitedError` if the caller has the maximum of open streams.
 */
export async function respondWithEvents(
  context: Context<AuthEnv>,
  job: Job,
  deps: EventStreamDeps,
  { after }: { after: number },
): Promise<Response> {
  const from = resumePoint(readLastEventId(context), after, job.sequence);
  if (isTerminal(job.status) && from >= job.sequence) return context.body(null, 204);
  // Hono serves HEAD by GET without reading the body, so the session would never end.
  if (context.req.method === 'HEAD')
    return context.body(null, 200, toHeaders(`/jobs/${job.run_id}/events`, deps));
  const reader = { jobId: job.run_id, isReconnect: from > 0 };
  return stream(context, job, from, await openSession(context, deps, reader), deps);
}

/**
 * Creates a job and responds with its event stream. Opens the session first, so that a caller with too many streams is
 * rejected before the job exists. Errors of `create` become ordinary responses.
 */
export async function respondWithNewJob(
  context: Context<AuthEnv>,
  deps: EventStreamDeps,
  create: () => Promise<Job>,
): Promise<Response> {
  const session = await openSession(context, deps);
  try {
    const job = await create();
    session.attachJob(job.run_id);
    // A replay under an `Idempotency-Key` can return a job that this reader has read in part.
    const from = resumePoint(readLastEventId(context), 0, job.sequence);
    return stream(context, job, from, session, deps);
  } catch (error) {
    await session.end();
    throw error;
  }
}

export async function openSession(
  context: Context<AuthEnv>,
  { eventStreams: { sessions, heartbeatSeconds } }: EventStreamDeps,
  reader?: EventStreamReader,
): Promise<EventSession> {
  const session = await sessions.open(context.get('key').caller, reader);
  if (session) return session;
  throw new RateLimitedError(
    `You have ${sessions.perCaller} event streams open. Close one, or read the log as JSON with GET /jobs/{job_id}/events.`,
    // A disconnected reader is detected at the next heartbeat.
    heartbeatSeconds,
  );
}

function stream(
  context: Context<AuthEnv>,
  job: Job,
  after: number,
  session: EventSession,
  deps: EventStreamDeps,
): Response {
  const frames = jobMessages({ job, after, keyHash: context.get('key').hash, signal: session.signal }, deps);
  return context.body(byteStream(frames, session.end), 200, toHeaders(`/jobs/${job.run_id}/events`, deps));
}

/**
 * Returns the response headers. `Content-Location` names the resource for a reconnection before the first event
 * arrives.
 */
export function toHeaders(path: string, { baseUrl }: Pick<EventStreamDeps, 'baseUrl'>) {
  return {
    'Content-Type': 'text/event-stream',
    'Content-Location': `${baseUrl}${path}`,
    // `no-transform`: a compressing proxy would hold events back. `X-Accel-Buffering` disables buffering in nginx.
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    Vary: 'Accept',
  };
}

const sequence = /^\d{1,15}$/;

/**
 * Returns the sequence after which a stream starts: the last event id, else `after`. An event id that this log does not
 * have starts from the beginning, so that the reader misses nothing.
 */
function resumePoint(lastEventId: string | undefined, after: number, newest: number): number {
  const asked = lastEventId !== undefined && sequence.test(lastEventId) ? Number(lastEventId) : after;
  return asked > newest ? 0 : asked;
}
