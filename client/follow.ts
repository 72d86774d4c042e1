import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError, WatchpostError } from './errors.ts';
import type { StreamedEvent } from './openapi-types.ts';
import { backoffMilliseconds, mayPass, refusalOf } from './transport.ts';
import type { Transport } from './transport.ts';

export type FollowOptions = {
  /** The sequence after which to go on; 0, the default, is from the start. */
  after?: number;
  /** Ends the iteration with the signal's reason. The job goes on. */
  signal?: AbortSignal;
};

/** The service sends something at least every 15 s: after so long without a byte the connection is dead. */
const silenceMilliseconds = 45_000;
/** A session that ends in good order after so long was not fruitless, though nothing happened to the job meanwhile. */
const lastingMilliseconds = 30_000;
/** Fruitless connections in a row before it gives up: about three minutes. */
const mostFailures = 10;

/**
 * A job's events in order, each once, from `after` on until `job_stopped`. A connection that breaks, is closed or falls silent
 * is opened again where it was. Throws `WatchpostError` for what will not pass (no such job, key revoked), and
 * the last error after ten fruitless connections in a row.
 */
export async function* follow(
  jobId: string,
  { after = 0, signal }: FollowOptions,
  transport: Transport,
): AsyncGenerator<StreamedEvent, void, undefined> {
  let last = after;
  let failures = 0;
  for (;;) {
    const resumedAfter = last;
    const openedAt = Date.now();
    try {
      for await (const event of oneConnection(jobId, last, transport, signal)) {
        if (event === 'over') return;
        // A service that replays more than it was asked for shows nothing twice.
        if (event.data.sequence <= last) continue;
        last = event.data.sequence;
        yield event;
        if (event.type === 'job_stopped') return;
      }
      // Closed in good order: after `error`, at the end of a session, or at a restart.
      const lasted = Date.now() - openedAt >= lastingMilliseconds;
      failures = lasted || last > resumedAfter ? 1 : failures + 1;
      if (failures >= mostFailures) throw new ConnectionError('The event stream is closed again and again');
    } catch (error) {
      signal?.throwIfAborted();
      failures = last > resumedAfter ? 1 : failures + 1;
      if (!mayPass(error) || failures >= mostFailures) throw error;
      const asked = error instanceof WatchpostError ? error.retryAfterSeconds : undefined;
      if (asked !== undefined) await transport.sleep(asked * 1_000, signal);
    }
    await transport.sleep(backoffMilliseconds(failures), signal);
  }
}

async function* oneConnection(
  jobId: string,
  last: number,
  transport: Transport,
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
    if (!response.ok || !response.body) throw await refusalOf(response);
    const heard = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        // Not Node's `refresh()`: elsewhere a timer is a number.
        clearTimeout(timer);
        timer = untilSilent();
        controller.enqueue(bytes);
      },
    });
    const messages = response.body
      .pipeThrough(heard)
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    for await (const { data } of messages) yield eventOf(data);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WatchpostError || error instanceof ConnectionError) throw error;
    throw new ConnectionError('The event stream broke', { cause: error });
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function eventOf(data: string): StreamedEvent {
  const event: unknown = JSON.parse(data);
  if (isEvent(event)) return event;
  throw new ConnectionError('The event stream carries what is no event of a job');
}

function isEvent(value: unknown): value is StreamedEvent {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('data' in value)) return false;
  const { type, data } = value;
  if (typeof type !== 'string' || typeof data !== 'object' || data === null) return false;
  return 'sequence' in data && typeof data.sequence === 'number';
}
