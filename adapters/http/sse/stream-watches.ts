import type { Context } from 'hono';
import { KeyEndedError } from '../../../core/errors.ts';
import type { WatchRun } from '../../../core/records/run.ts';
import type { WatchEventType } from '../../../core/records/watch-event.ts';
import { isOver } from '../../../core/time.ts';
import { presentWatchEvent, presentWatch } from '../../../core/watch/present-watch.ts';
import { tailWatchEvents, type LogScope } from '../../../core/watch/watch-logs.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { byteStream, formatError, formatRetry, heartbeatComment, type EventStreamDeps } from './messages.ts';
import { watchSession } from './job-messages.ts';
import { openSession, toHeaders } from './stream-job.ts';

type Reader = {
  scope: LogScope;
  /** Position after which the stream begins. */
  from: string;
  /** Watches of the event `state`, read after `from`; absent for a reader with a position. */
  state?: readonly WatchRun[];
  /** Types of its events, beside `state`; absent: all. */
  types: readonly WatchEventType[] | undefined;
};

/**
 * Responds with the events of watches after a position, and with new events until the reader disconnects. Without
 * position the first event is `state`. Throws `RateLimitedError` if the caller has the maximum of open streams.
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

/** Returns the position in the log of a watch. One beyond the log means now; undefined for another text. */
export function readSequence(text: string | undefined, { sequence }: WatchRun): string | undefined {
  return /^\d{1,15}$/.test(text ?? '') ? String(Math.min(Number(text), sequence)) : undefined;
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
  { scope, from, state, types }: Reader,
  keyHash: string,
  signal: AbortSignal,
  deps: EventStreamDeps,
) {
  const { heartbeatSeconds, retryMilliseconds, signals } = deps.eventStreams;
  const checkSession = watchSession(keyHash, deps);
  yield formatRetry(retryMilliseconds);
  if (state) yield formatState(state, from, deps.now());
  let takenAt = deps.steadyNow();
  for await (const page of tailWatchEvents(scope, from, { ...deps, signals }, signal)) {
    const session = await checkSession();
    if (session === 'revoked') yield formatError(new KeyEndedError());
    if (session !== 'open') return;
    if (page && isOfTypes(page.event, types)) {
      const event = presentWatchEvent(page.watch, page.event, deps.baseUrl);
      yield format(event.type, page.position, event);
    } else if (isOver(takenAt, heartbeatSeconds, deps.steadyNow())) yield heartbeatComment;
    else continue;
    takenAt = deps.steadyNow();
  }
}

function formatState(stored: readonly WatchRun[], position: string, time: Date): string {
  const data = { watches: stored.map((watch) => presentWatch(watch, time)) };
  return format('state', position, { type: 'state', timestamp: time.toISOString(), data });
}

/** Formats an event. JSON contains no unescaped line break, so one `data:` line suffices. */
function format(name: string, id: string, value: object): string {
  return `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** Returns true if a reader of these types wants the event; without types it wants all. */
export function isOfTypes(
  { type }: { type: WatchEventType },
  types: readonly WatchEventType[] | undefined,
): boolean {
  return types?.includes(type) ?? true;
}
