import type { CoreDeps } from '../dependencies.ts';
import { envelopeWithLinks } from '../event/present-event.ts';
import type { BusEvent, EventBus } from '../ports/event-bus.ts';
import type { WatchStore } from '../ports/watch-store.ts';
import type { BusMessage } from '../records/delivery.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { presentWatchEvent } from '../watch/present-watch-event.ts';

export type PutOnBusDeps = Pick<CoreDeps, 'jobs' | 'log' | 'baseUrl'> & {
  watches: Pick<WatchStore, 'getIncludingEnded' | 'event'>;
  /** Undefined without an event bus. */
  bus?: EventBus | undefined;
};

/**
 * Puts an event on the bus. A failure is an error, so that the message returns until the queue moves it to its dead-letter queue. A message
 * may arrive twice: consumers recognize a repetition by the id of the event.
 */
export async function putOnBus(message: BusMessage, deps: PutOnBusDeps): Promise<void> {
  if (!deps.bus) return omit(message, 'the deployment no longer has an event bus', deps);
  const event = await readEvent(message, deps);
  if (!event) return omit(message, 'it is no longer stored', deps);
  await deps.bus.put(event);
}

function omit({ bus, id, sequence }: BusMessage, reason: string, { log }: PutOnBusDeps): void {
  log.warning('Event omitted from the event bus', {
    [`${bus === 'job' ? bus : 'watch'}_id`]: id,
    sequence,
    reason,
  });
}

async function readEvent(message: BusMessage, deps: PutOnBusDeps): Promise<BusEvent | undefined> {
  return message.bus === 'job' ? readJobEvent(message, deps) : readWatchEvent(message, deps);
}

async function readJobEvent({ id, sequence }: BusMessage, deps: PutOnBusDeps): Promise<BusEvent | undefined> {
  const [job, event] = await Promise.all([deps.jobs.getIncludingEnded(id), deps.jobs.event(id, sequence)]);
  if (!job || !event) return undefined;
  return { id: eventId(id, sequence), caller: job.caller, ...envelopeWithLinks(job, event, deps) };
}

async function readWatchEvent(message: BusMessage, deps: PutOnBusDeps): Promise<BusEvent | undefined> {
  const { id, sequence, test } = message;
  const watch = await deps.watches.getIncludingEnded(id);
  if (!watch) return undefined;
  if (test) {
    const { name: watch_name, labels } = watch.config;
    return {
      id: `msg_test_${test.id}`,
      caller: watch.caller,
      type: 'test',
      timestamp: test.timestamp,
      source_url: maskUrl(watch.stream_url),
      data: { watch_id: id, watch_name, labels, message: 'This is a test alert: nothing has happened.' },
    };
  }
  const event = await deps.watches.event(id, sequence);
  if (!event) return undefined;
  return {
    id: eventId(id, sequence),
    caller: watch.caller,
    ...presentWatchEvent(watch, event, deps.baseUrl),
  };
}

/** Returns the id of the event in webhooks. */
function eventId(id: string, sequence: number): string {
  return `msg_${id}_${sequence}`;
}
