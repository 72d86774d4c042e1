import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError, isErrorEnvelope, toError, WatchpostError } from './errors.ts';
import type { StreamedEvent, StreamedWatchEvent, WatchEvent } from './openapi-types.ts';
import { backoffMilliseconds, isRetryable, readError, type Call, type Transport } from './transport.ts';

/** End of `follow` and `followWatches`. */
type Ending = {
  /** Ends the iteration with the reason of the signal. The job or watch continues. */
  signal?: AbortSignal | undefined;
  /** Maximum consecutive connections without an event. Default 10: about three minutes. */
  maxFailures?: number;
};

/** Start and end of `follow`. */
export type FollowOptions = Ending & {
  /** Sequence after which to start. Default 0: the first event. */
  after?: number;
};

/** Selection, start and end of `followWatches`. */
export type FollowWatchesOptions = Ending & {
  /** Watch to follow. Default: all of the caller. */
  watchId?: string;
  /**
   * `position` of the last event that was read. Default: an event `state`, then new events; `0`: the first event that
   * is kept.
   */
  after?: string;
  /** Types of the events, beside `state`. Default: all. */
  types?: readonly WatchEvent['type'][];
};

/** Event with the position after which `followWatches` can resume. */
export type FollowedWatchEvent = StreamedWatchEvent & { position: string };

type StreamTransport = Pick<Transport, 'open' | 'sleep'>;

/** Silence after which a connection counts as dead. The service sends a comment every 15 s. */
const silenceMilliseconds = 45_000;
/** Minimum duration of a session without events that does not count as a failure. */
const lastingMilliseconds = 30_000;

/**
 * Yields the events of a job in order, each once, after sequence `after` until `job_stopped`. Reopens and throws as
 * `followLog`.
 */
export async function* follow(
  jobId: string,
  { after = 0, ...ending }: FollowOptions,
  transport: StreamTransport,
): AsyncGenerator<StreamedEvent, void, undefined> {
  let last = after;
  const log = { path: `/jobs/${encodeURIComponent(jobId)}/events`, isEvent: isJobEvent };
  for await (const { event } of followLog(log, String(after), ending, transport)) {
    // Skips events that the service repeats.
    if (event.data.sequence > last) {
      last = event.data.sequence;
      yield event;
    }
    // Also of a job that ended before `after`, which the service sends from its beginning.
    if (event.type === 'job_stopped') return;
  }
}

/**
 * Yields the events of watches in order, until the only one is deleted, also while the connection is broken. Reopens
 * and throws as `followLog`.
 */
export async function* followWatches(
  { watchId, after, types, ...ending }: FollowWatchesOptions,
  transport: StreamTransport,
): AsyncGenerator<FollowedWatchEvent, void, undefined> {
  const path = watchId === undefined ? '/watches/events' : `/watches/${encodeURIComponent(watchId)}/events`;
  // The deletion ends the iteration.
  const selected = types && [...types, 'watch_changed'].join(',');
  const log = { path, query: { types: selected }, isEvent: isWatchEvent };
  for await (const { event, position } of followLog(log, after, ending, transport)) {
    if (!types || event.type === 'state' || types.includes(event.type)) yield { ...event, position };
    if (watchId !== undefined && event.type === 'watch_changed' && event.data.reason === 'deleted') return;
  }
}

/** Log that is read as a stream. */
type Log<Event> = { path: string; query?: Call['query']; isEvent: (value: unknown) => value is Event };

/**
 * Yields the events of a log after `position` until the service has no more. Reopens a broken, closed or silent
 * connection after the last event. Throws `WatchpostError` for a permanent error (unknown job, revoked key), and the
 * last error after `maxFailures` consecutive connections without an event.
 */
async function* followLog<Event>(
  log: Log<Event>,
  position: string | undefined,
  { signal, maxFailures = 10 }: Ending,
  transport: StreamTransport,
): AsyncGenerator<{ event: Event; position: string }, void, undefined> {
  let last = position;
  let failures = 0;
  for (;;) {
    const resumedAfter = last;
    const openedAt = Date.now();
    try {
      for await (const message of oneConnection(log, last, transport, signal)) {
        if (message === 'over') return;
        last = message.position;
        yield message;
      }
      // The service closed the stream: after `error`, at the end of a session, or for a restart.
      const lasted = Date.now() - openedAt >= lastingMilliseconds;
      failures = lasted || last !== resumedAfter ? 1 : failures + 1;
      if (failures >= maxFailures)
        throw new ConnectionError('The service closes the event stream repeatedly');
    } catch (error) {
      signal?.throwIfAborted();
      // It was deleted while the connection was broken, and its events with it.
      if (last !== position && error instanceof WatchpostError && error.code === 'WATCH_NOT_FOUND') return;
      failures = last !== resumedAfter ? 1 : failures + 1;
      if (!isRetryable(error) || failures >= maxFailures) throw error;
      const requestedSeconds = error instanceof WatchpostError ? error.retryAfterSeconds : undefined;
      if (requestedSeconds !== undefined) await transport.sleep(requestedSeconds * 1_000, signal);
    }
    await transport.sleep(backoffMilliseconds(failures), signal);
  }
}

async function* oneConnection<Event>(
  { path, query, isEvent }: Log<Event>,
  last: string | undefined,
  transport: StreamTransport,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ event: Event; position: string } | 'over', void, undefined> {
  const silence = new AbortController();
  const untilSilent = () => setTimeout(() => silence.abort(), silenceMilliseconds);
  let timer = untilSilent();
  try {
    const response = await transport.open({
      method: 'GET',
      path,
      ...(query && { query }),
      headers: { Accept: 'text/event-stream', ...(last !== undefined && { 'Last-Event-ID': last }) },
      repeatable: true,
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    if (response.status === 204) {
      yield 'over';
      return;
    }
    if (!response.ok || !response.body) throw await readError(response);
    const received = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (bytes, controller) => {
        // Not `refresh()`: outside of Node a timer is a number.
        clearTimeout(timer);
        timer = untilSilent();
        controller.enqueue(bytes);
      },
    });
    const messages = response.body
      .pipeThrough(received)
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    // Not `for await`: not all browsers iterate over streams.
    const reader = messages.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      yield { event: parseEvent(part.value.data, isEvent), position: part.value.id ?? last ?? '' };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WatchpostError || error instanceof ConnectionError) throw error;
    throw new ConnectionError('The event stream broke', { cause: error });
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** Parses an event. Throws `WatchpostError` for an error that ends the stream, such as a revoked key. */
function parseEvent<Event>(data: string, isEvent: Log<Event>['isEvent']): Event {
  const value: unknown = JSON.parse(data);
  if (isErrorEnvelope(value)) throw toError(401, value, null);
  if (isEvent(value)) return value;
  throw new ConnectionError('The event stream contains a message that is no event');
}

function isJobEvent(value: unknown): value is StreamedEvent {
  return isWatchEvent(value) && 'sequence' in value.data && typeof value.data.sequence === 'number';
}

function isWatchEvent(value: unknown): value is StreamedWatchEvent {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('data' in value)) return false;
  return typeof value.type === 'string' && typeof value.data === 'object' && value.data !== null;
}
