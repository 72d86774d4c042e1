import type { Context } from 'hono';
import { RateLimitedError } from '../../../core/errors.ts';
import type { Job } from '../../../core/records/job.ts';
import type { EventSession, EventStreamReader } from '../../../core/ports/event-sessions.ts';
import { isTerminal } from '../../../core/records/transitions.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { byteStream } from './byte-stream.ts';
import type { EventStreamDeps } from './dependencies.ts';
import { jobMessages } from './job-messages.ts';
import { resumePoint } from './resume-point.ts';

/**
 * Answers with the job's events after `Last-Event-ID`, else after `after`, those to come included, until the first terminal
 * one. 204 when the log is over and this reader has all of it: an EventSource then stops coming back.
 * Throws `RATE_LIMITED` where the caller has as many streams open as it may.
 */
export async function respondWithEvents(
  context: Context<AuthEnv>,
  job: Job,
  deps: EventStreamDeps,
  { after }: { after: number },
): Promise<Response> {
  const from = resumePoint(context.req.header('Last-Event-ID'), after, job.sequence);
  if (isTerminal(job.status) && from >= job.sequence) return context.body(null, 204);
  // Hono answers HEAD with a GET whose body nobody reads: a session would never end.
  if (context.req.method === 'HEAD') return context.body(null, 200, toHeaders(job, deps));
  const reader = { jobId: job.job_id, isReconnect: from > 0 };
  return stream(context, job, from, await openSession(context, deps, reader), deps);
}

/**
 * For a request that makes a job and asks for its stream: the session is taken first, so that a caller with too many streams
 * is refused before there is a job. What `create` throws is an ordinary answer with its status.
 */
export async function respondWithNewJob(
  context: Context<AuthEnv>,
  deps: EventStreamDeps,
  create: () => Promise<Job>,
): Promise<Response> {
  const session = await openSession(context, deps);
  try {
    const job = await create();
    session.attachJob(job.job_id);
    // A creation that was repeated under its Idempotency-Key may be of a job that this reader knows in part.
    const from = resumePoint(context.req.header('Last-Event-ID'), 0, job.sequence);
    return stream(context, job, from, session, deps);
  } catch (error) {
    await session.end();
    throw error;
  }
}

async function openSession(
  context: Context<AuthEnv>,
  { eventStreams: { sessions, heartbeatSeconds } }: EventStreamDeps,
  reader?: EventStreamReader,
): Promise<EventSession> {
  const session = await sessions.open(context.get('key').caller, reader);
  if (session) return session;
  throw new RateLimitedError(
    `You have ${sessions.perCaller} event streams open. Close one, or read the log as JSON with GET /jobs/{job_id}/events.`,
    // A reader that vanished is found at the next heartbeat.
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
  return context.body(byteStream(frames, session.end), 200, toHeaders(job, deps));
}

/** `Content-Location` tells the reader of a POST stream where to go on, before the first event does. */
function toHeaders(job: Job, { baseUrl }: Pick<EventStreamDeps, 'baseUrl'>) {
  return {
    'Content-Type': 'text/event-stream',
    'Content-Location': `${baseUrl}/jobs/${job.job_id}/events`,
    // no-transform: a proxy that compresses would hold events back; the last one says the same to nginx.
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    Vary: 'Accept',
  };
}
