import type { Context } from 'hono';
import { KeyEndedError } from '../../../core/errors.ts';
import type { WatchRun } from '../../../core/records/watch-run.ts';
import { isOver } from '../../../core/time.ts';
import { formatCursor, parseCursor } from '../../../core/watch/log-cursor.ts';
import { presentWatchEvent } from '../../../core/watch/present-watch-event.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { newestPositions, tailWatchEvents } from '../../../core/watch/watch-logs.ts';
import type { LogScope, Positions } from '../../../core/watch/watch-logs.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { byteStream } from './byte-stream.ts';
import type { EventStreamDeps } from './dependencies.ts';
import { watchSession } from './job-messages.ts';
import { formatError, formatRetry, heartbeatComment } from './messages.ts';
import { openSession, toHeaders } from './stream-job.ts';

type Reader = {
  scope: LogScope;
  /** Watches in scope when the stream was opened. */
  stored: readonly WatchRun[];
  /** Undefined without position: the stream begins with the state and has new events only. */
  from: Positions | undefined;
};

/**
 * Responds with the events of watches after a position, and with new events until the reader disconnects. Without position the first event
 * is `state`. Throws `RateLimitedError` if the caller has the maximum of open streams.
 */
export async function respondWithWatchEvents(
  context: Context<AuthEnv>,
  reader: Reader,
  deps: EventStreamDeps,
): Promise<Response> {
  const id = reader.scope.watchId;
  const headers = toHeaders(id === undefined ? '/watches/events' : `/watches/${id}/events`, deps);
  // Hono serves HEAD by GET without reading the body, so the session would never end.
  if (context.req.method === 'HEAD') return context.body(null, 200, headers);
  const session = await openSession(context, deps);
  const messages = watchMessages(reader, context.get('key').hash, session.signal, deps);
  return context.body(byteStream(messages, session.end), 200, headers);
}

/**
 * Returns the positions of `Last-Event-ID`, else of `after`. A position beyond the log of a watch means now; undefined without a valid
 * position.
 */
export function readPositions(
  lastEventId: string | undefined,
  after: string | undefined,
  stored: readonly WatchRun[],
  watchId: string | undefined,
): Positions | undefined {
  const text = lastEventId ?? after;
  // A caller without watches has an empty position.
  if (text === undefined || text === '') return undefined;
  const asked =
    watchId !== undefined && /^\d{1,15}$/.test(text) ? new Map([[watchId, Number(text)]]) : parseCursor(text);
  if (asked === undefined) return undefined;
  const newest = newestPositions(stored);
  return new Map([...asked].map(([id, sequence]) => [id, Math.min(sequence, newest.get(id) ?? sequence)]));
}

async function* watchMessages(reader: Reader, keyHash: string, signal: AbortSignal, deps: EventStreamDeps) {
  try {
    yield* messages(reader, keyHash, signal, deps);
  } catch (error) {
    deps.log.warning('Event stream of watches closed; its reader can resume', {
      caller: reader.scope.caller,
      error: String(error),
    });
  }
}

async function* messages(
  { scope, stored, from }: Reader,
  keyHash: string,
  signal: AbortSignal,
  deps: EventStreamDeps,
) {
  const { heartbeatSeconds, retryMilliseconds, signals } = deps.eventStreams;
  const checkSession = watchSession(keyHash, deps);
  const start = from ?? newestPositions(stored);
  yield formatRetry(retryMilliseconds);
  if (from === undefined) yield formatState(scope, stored, start, deps.now());
  let takenAt = deps.steadyNow();
  for await (const found of tailWatchEvents(scope, start, { ...deps, signals }, signal)) {
    const state = await checkSession();
    if (state === 'revoked') yield formatError(new KeyEndedError());
    if (state !== 'open') return;
    if (found) {
      const event = presentWatchEvent(found.stored, found.event, deps.baseUrl);
      yield format(event.type, formatId(scope, found.positions), event);
    } else if (isOver(takenAt, heartbeatSeconds, deps.steadyNow())) yield heartbeatComment;
    else continue;
    takenAt = deps.steadyNow();
  }
}

function formatState(scope: LogScope, stored: readonly WatchRun[], positions: Positions, at: Date): string {
  const data = { watches: stored.map(presentWatch) };
  return format('state', formatId(scope, positions), { type: 'state', timestamp: at.toISOString(), data });
}

/** Returns the id of an event: its sequence, or positions in all logs. Empty if the caller has no watches. */
function formatId({ watchId }: LogScope, positions: Positions): string {
  return watchId === undefined ? formatCursor(positions) : String(positions.get(watchId) ?? 0);
}

/** Formats an event. JSON contains no unescaped line break, so one `data:` line suffices. */
function format(name: string, id: string, value: object): string {
  return `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(value)}\n\n`;
}
