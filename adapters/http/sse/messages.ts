import type { WatchpostError } from '../../../core/errors.ts';
import { policyEvents } from '../../../core/policies/records.ts';
import type { EventType } from '../../../core/records/event.ts';
import type { EventEnvelope } from '../../../core/event/present-event.ts';
import { errorResponse } from '../error-envelope.ts';
import type { CoreDeps } from '../../../core/dependencies.ts';
import type { EventSessions, LogSignals } from '../../../core/ports/event-sessions.ts';
import type { TailDeps } from '../../../core/event/tail-events.ts';
import type { KeyStore } from '../../../core/ports/callers.ts';
import type { Context } from 'hono';
import { parseAccept, type Accept } from 'hono/utils/accept';

/** Format of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */

/** Event names in the stream (I-6.2.1). */
const names: Record<EventType, { streamName: string }> = {
  job_started: { streamName: 'started' },
  progress: { streamName: 'progress' },
  ...policyEvents,
  error: { streamName: 'error' },
  job_stopped: { streamName: 'stopped' },
};

/** Returns true for `stopped` and `error`, which end the session (I-6.2.3). */
export function isTerminalEvent(type: EventType): boolean {
  return type === 'job_stopped' || type === 'error';
}

/** Formats an event. JSON contains no unescaped line break, so one `data:` line suffices. */
export function formatEvent(sequence: number, envelope: EventEnvelope): string {
  return `event: ${names[envelope.type].streamName}\nid: ${sequence}\ndata: ${JSON.stringify(envelope)}\n\n`;
}

/**
 * Formats an error that ends this event stream and is not in the log: the envelope of an error response, without `id:`,
 * so that a reader resumes after the last event.
 */
export function formatError(error: WatchpostError): string {
  return `event: error\ndata: ${JSON.stringify(errorResponse(error).body)}\n\n`;
}

/** Formats the opening: it shows that the stream is open and sets the reconnection time. */
export function formatRetry(retryMilliseconds: number): string {
  return `retry: ${retryMilliseconds}\n\n`;
}

/** Comment that keeps proxies from closing an idle connection and detects disconnected readers. */
export const heartbeatComment = ': heartbeat\n\n';

/**
 * Pull-based byte stream: formats a message after the previous one was read. Slow readers buffer nothing. Calls `onEnd`
 * when the messages end or fail, or the reader disconnects.
 */
export function byteStream(
  frames: AsyncGenerator<string>,
  onEnd: () => Promise<void>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let left = false;

  async function nextFrame(): Promise<string | undefined> {
    let frame: IteratorResult<string> | undefined;
    try {
      frame = await frames.next();
    } finally {
      if (!frame || frame.done) await onEnd();
    }
    return frame.done ? undefined : frame.value;
  }

  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        const frame = await nextFrame();
        if (left) return;
        if (frame === undefined) controller.close();
        else controller.enqueue(encoder.encode(frame));
      },
      cancel: async () => {
        left = true;
        await onEnd();
        await frames.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

export type EventStreamDeps = Pick<CoreDeps, 'runs' | 'watches' | 'media' | 'baseUrl' | 'now' | 'log'> & {
  keys: Pick<KeyStore, 'find'>;
  /** Clock for heartbeats, key checks and the length of a session. */
  steadyNow: () => Date;
  eventStreams: EventStreams;
};

export type EventStreams = {
  sessions: EventSessions;
  /** Wakes a stream that has sent all events. */
  signals: LogSignals;
  /** Reads of the logs of jobs that readers share. Default: each reads the store. */
  reads?: TailDeps['runs'];
  /** Reconnection time of readers (`retry:`), in milliseconds. */
  retryMilliseconds: number;
  /** Time without an event after which a heartbeat is sent, in seconds. */
  heartbeatSeconds: number;
  /** Maximum length of a session, in seconds; its reader reconnects with `Last-Event-ID`. `null`: no limit. */
  sessionSeconds: number | null;
};

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
