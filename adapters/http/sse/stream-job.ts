import type { Context } from 'hono';
import { RateLimitedError } from '../../../core/errors.ts';
import type { Job } from '../../../core/job.ts';
import type { EventSession, Reader } from '../../../core/ports/event-sessions.ts';
import { isTerminal } from '../../../core/transitions.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { byteStream } from './byte-stream.ts';
import type { EventStreamNeeds } from './event-stream-needs.ts';
import { jobFrames } from './job-frames.ts';
import { resumePoint } from './resume-point.ts';

/**
 * Answers with the job's events after `Last-Event-ID`, else after `after`, those to come included, until the first terminal
 * one. 204 when the log is over and this reader has all of it: an EventSource then stops coming back.
 * Throws `RATE_LIMITED` where the caller has as many streams open as it may.
 */
export async function respondWithEvents(
  context: Context<AuthEnv>,
  job: Job,
  c: EventStreamNeeds,
  { after }: { after: number },
): Promise<Response> {
  const from = resumePoint(context.req.header('Last-Event-ID'), after, job.sequence);
  if (isTerminal(job.status) && from >= job.sequence) return context.body(null, 204);
  // Hono answers HEAD with a GET whose body nobody reads: a session would never end.
  if (context.req.method === 'HEAD') return context.body(null, 200, headersOf(job, c));
  const reader = { jobId: job.job_id, returns: from > 0 };
  return stream(context, job, from, await openSession(context, c, reader), c);
}

/**
 * For a request that makes a job and asks for its stream: the session is taken first, so that a caller with too many streams
 * is refused before there is a job. What `create` throws is an ordinary answer with its status.
 */
export async function respondWithNewJob(
  context: Context<AuthEnv>,
  c: EventStreamNeeds,
  create: () => Promise<Job>,
): Promise<Response> {
  const session = await openSession(context, c);
  try {
    const job = await create();
    session.reads(job.job_id);
    // A creation that was repeated under its Idempotency-Key may be of a job that this reader knows in part.
    const from = resumePoint(context.req.header('Last-Event-ID'), 0, job.sequence);
    return stream(context, job, from, session, c);
  } catch (error) {
    await session.end();
    throw error;
  }
}

async function openSession(
  context: Context<AuthEnv>,
  { eventStreams: { sessions, heartbeatSeconds } }: EventStreamNeeds,
  reader?: Reader,
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
  c: EventStreamNeeds,
): Response {
  const frames = jobFrames({ job, after, keyHash: context.get('key').hash, signal: session.signal }, c);
  return context.body(byteStream(frames, session.end), 200, headersOf(job, c));
}

/** `Content-Location` tells the reader of a POST stream where to go on, before the first event does. */
function headersOf(job: Job, { baseUrl }: Pick<EventStreamNeeds, 'baseUrl'>) {
  return {
    'Content-Type': 'text/event-stream',
    'Content-Location': `${baseUrl}/jobs/${job.job_id}/events`,
    // no-transform: a proxy that compresses would hold events back; the last one says the same to nginx.
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    Vary: 'Accept',
  };
}
