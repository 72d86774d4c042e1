import type { Context } from 'hono';
import { parseAccept, type Accept } from 'hono/utils/accept';

const json = 'application/json';
const eventStream = 'text/event-stream';

/**
 * Returns true if the Accept header prefers an event stream to JSON (RFC 9110 section 12.5.1). With equal weights, the
 * event stream must be named explicitly, since JSON is the default.
 *
 * @example
 * text/event-stream → true
 * text/event-stream, application/json → true
 * text/event-stream;q=0.5, application/json → false
 * *\/* → false
 */
export function wantsEvents(context: Context): boolean {
  const accepted = parseAccept(context.req.header('Accept') ?? '');
  const events = quality(accepted, eventStream);
  const other = quality(accepted, json);
  const named = accepted.some(({ type }) => type.toLowerCase() === eventStream);
  return events > other || (named && events > 0 && events === other);
}

function quality(accepted: Accept[], mediaType: string): number {
  const ranges = [mediaType, `${mediaType.split('/', 1)[0]}/*`, '*/*'];
  for (const range of ranges) {
    const match = accepted.find(({ type }) => type.toLowerCase() === range);
    if (match) return match.q;
  }
  return 0;
}

/**
 * Query parameters of readers that may set headers, but not this one: `lastEventId` of event-source-polyfill and
 * others.
 */
const parameters = ['lastEventId', 'last_event_id', 'last-event-id', 'Last-Event-ID'];

/** Returns the position at which a reader resumes: the header, else a query parameter; undefined without either. */
export function readLastEventId({ req }: Context): string | undefined {
  const asked = parameters.map((name) => req.queries(name)?.at(-1)).find((value) => value);
  return req.header('Last-Event-ID') ?? asked;
}
