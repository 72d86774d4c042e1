import type { CoreDeps } from '../dependencies.ts';
import { envelopeWithLinks } from '../event/present-event.ts';
import type { BusEvent, EventBus } from '../ports/delivery.ts';
import type { RunStore } from '../ports/runs.ts';
import type { BusMessage } from '../records/delivery.ts';
import { isJob, isJobEvent, isWatchEvent, type Run, type RunEvent, type WatchRun } from '../records/run.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { presentWatchEvent } from '../watch/present-watch.ts';

export type PutOnBusDeps = Pick<CoreDeps, 'log' | 'baseUrl'> & {
  runs: Pick<RunStore, 'getIncludingEnded' | 'event'>;
  /** Undefined without an event bus. */
  bus?: EventBus | undefined;
};

/**
 * Puts an event on the bus. A failure is an error, so that the message returns until the queue moves it to its
 * dead-letter queue. A message may arrive twice: consumers recognize a repetition by the id of the event.
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

async function readEvent(
  { id, sequence, test }: BusMessage,
  { runs, baseUrl }: PutOnBusDeps,
): Promise<BusEvent | undefined> {
  const run = await runs.getIncludingEnded(id);
  if (!run) return undefined;
  if (test) return isJob(run) ? undefined : presentTest(run, test);
  const event = await runs.event(id, sequence);
  const presented = event && present(run, event, baseUrl);
  return presented && { id: eventId(id, sequence), caller: run.caller, ...presented };
}

function present(run: Run, event: RunEvent, baseUrl: string): Omit<BusEvent, 'id' | 'caller'> | undefined {
  if (isJob(run)) return isJobEvent(event) ? envelopeWithLinks(run, event, { baseUrl }) : undefined;
  return isWatchEvent(event) ? presentWatchEvent(run, event, baseUrl) : undefined;
}

function presentTest(
  { run_id: watch_id, caller, stream_url, config }: WatchRun,
  { id, timestamp }: NonNullable<BusMessage['test']>,
): BusEvent {
  const { name: watch_name, labels } = config;
  return {
    id: `msg_test_${id}`,
    caller,
    type: 'test',
    timestamp,
    source_url: maskUrl(stream_url),
    data: { watch_id, watch_name, labels, message: 'This is a test alert: nothing has happened.' },
  };
}

function eventId(id: string, sequence: number): string {
  return `msg_${id}_${sequence}`;
}
