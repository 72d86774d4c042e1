import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError, isErrorEnvelope, toError, WatchpostError } from './errors.ts';
import type { StreamedEvent } from './openapi-types.ts';
import { backoffMilliseconds, isRetryable, readError } from './transport.ts';
import type { Transport } from './transport.ts';

/** Start and end of `follow`. */
export type FollowOptions = {
  /** Sequence after which to start. Default 0: the first event. */
  after?: number;
  /** Ends the iteration with the reason of the signal. The job continues. */
  signal?: AbortSignal;
  /** Maximum consecutive connections without an event. Default 10: about three minutes. */
  maxFailures?: number;
};

type StreamTransport = Pick<Transport, 'open' | 'sleep'>;

/** Silence after which a connection counts as dead. The service sends a comment every 15 s. */
const silenceMilliseconds = 45_000;
/** Minimum duration of a session without events that does not count as a failure. */
const lastingMilliseconds = 30_000;

/**
 * Yields the events of a job in order, each once, after sequence `after` until `job_stopped`. Reopens a broken, closed or
 * silent connection after the last event. Throws `WatchpostError` for a permanent error (unknown job, revoked key), and
 * the last error after `maxFailures` consecutive connections without an event.
 */
export async function* follow(
  jobId: string,
  { after = 0, signal, maxFailures = 10 }: FollowOptions,
  transport: StreamTransport,
): AsyncGenerator<StreamedEvent, void, undefined> {
  let last = after;
  let failures = 0;
  for (;;) {
    const resumedAfter = last;
    const openedAt = Date.now();
    try {
      for await (const event of oneConnection(jobId, last, transport, signal)) {
        if (event === 'over') return;
        // Skips events that the service repeats.
        if (event.data.sequence > last) {
          last = event.data.sequence;
          yield event;
        }
        // Also of a job that ended before `after`, which the service sends from its beginning.
        if (event.type === 'job_stopped') return;
      }
      // The service closed the stream: after `error`, at the end of a session, or for a restart.
      const lasted = Date.now() - openedAt >= lastingMilliseconds;
      failures = lasted || last > resumedAfter ? 1 : failures + 1;
      if (failures >= maxFailures)
        throw new ConnectionError('The service closes the event stream repeatedly');
    } catch (error) {
      signal?.throwIfAborted();
      failures = last > resumedAfter ? 1 : failures + 1;
      if (!isRetryable(error) || failures >= maxFailures) throw error;
      const requestedSeconds = error instanceof WatchpostError ? error.retryAfterSeconds : undefined;
      if (requestedSeconds !== undefined) await transport.sleep(requestedSeconds * 1_000, signal);
    }
    await transport.sleep(backoffMilliseconds(failures), signal);
  }
}

async function* oneConnection(
  jobId: string,
  last: number,
  transport: StreamTransport,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamedEvent | 'over', void, undefined> {
  const silence = new AbortController();
  const untilSilent = () => setTimeout(() => silence.abort(), silenceMilliseconds);
  let timer = untilSilent();
  try {
    const response = await transport.open({
      method: 'GET',
      path: `/jobs/${encodeURIComponent(jobId)}/events`,
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(last) },
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
      yield parseEvent(part.value.data);
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
function parseEvent(data: string): StreamedEvent {
  const event: unknown = JSON.parse(data);
  if (isErrorEnvelope(event)) throw toError(401, event, null);
  if (isEvent(event)) return event;
  throw new ConnectionError('The event stream contains a message that is no job event');
}

function isEvent(value: unknown): value is StreamedEvent {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('data' in value)) return false;
  const { type, data } = value;
  if (typeof type !== 'string' || typeof data !== 'object' || data === null) return false;
  return 'sequence' in data && typeof data.sequence === 'number';
}
