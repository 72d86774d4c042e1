import type { CoreDeps } from '../dependencies.ts';
import { runLog } from '../ports/observability.ts';
import type { RunChange, RunStore, WatchStore } from '../ports/runs.ts';
import {
  isDeliveredByWebhook,
  passesFilter,
  webhookDestination,
  type QueueMessage,
  type RunKey,
  type DestinationState,
} from '../records/delivery.ts';
import type { Job } from '../records/job.ts';
import { isJob, isJobEvent, isWatchEvent, type Run, type RunEvent } from '../records/run.ts';
import { eventsBeforeHole } from '../event/tail-events.ts';
import { hasReceivers } from '../event/stored-run.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { Destination, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { addOpening, currentState, removeOpenings, type AddressedDestination } from './destination-state.ts';
import { findPart, findSubject, isWanted } from './receivers.ts';

export type PublishDeps = WatchPublishDeps & Pick<CoreDeps, 'log' | 'now'>;

type Logs = { runs: Pick<RunStore, 'getIncludingEnded' | 'events' | 'markPublished'> };

/** Events per read of a log. */
const pageSize = 100;

/** Returns a store that publishes after each commit with events for somebody, so that no caller forgets it. */
export function publishCommits(runs: RunStore, deps: PublishDeps): RunStore {
  return {
    ...runs,
    commit: async (change) => {
      const result = await runs.commit(change);
      const [first] = change.events;
      if (result === 'committed' && first && (await isWorthPublishing(change, runs)))
        await publishRun(
          { run: isJobEvent(first) ? 'job' : 'watch', run_id: change.runId },
          { ...deps, runs },
        );
      return result;
    },
  };
}

/** Returns a store of watches that publishes after each creation: it has events. */
export function publishCreations<Store extends Pick<WatchStore, 'create'>>(
  watches: Store,
  runs: RunStore,
  deps: PublishDeps,
): Store {
  return {
    ...watches,
    create: async (creation, now) => {
      const result = await watches.create(creation, now);
      if (result.kind === 'created')
        await publishRun({ run: 'watch', run_id: creation.run_id }, { ...deps, runs });
      return result;
    },
  };
}

/**
 * Returns true for news. A log of checks is crossed page by page, so that an alert does not wait for it; a heartbeat
 * receives each check.
 */
async function isWorthPublishing({ runId, events }: RunChange, runs: RunStore): Promise<boolean> {
  const last = events.at(-1);
  if (last === undefined) return false;
  if (events.some(({ type }) => type !== 'progress') || last.sequence % pageSize < events.length) return true;
  if (isJobEvent(last)) return false;
  const run = await runs.getIncludingEnded(runId);
  return run !== undefined && !isJob(run) && run.config.destinations.some(({ type }) => type === 'heartbeat');
}

/**
 * Sends the events of a run after `published` to the delivery queue, in order. Logs a failure and never throws: the
 * next commit or `reconcile` publishes them.
 */
export async function publishRun(key: RunKey, deps: PublishDeps & Logs): Promise<void> {
  try {
    const run = await deps.runs.getIncludingEnded(key.run_id);
    if (run) await publish(run, deps);
  } catch (error) {
    runLog(deps.log, key).warning('Events not published yet; reconcile publishes them', {
      error: String(error),
    });
  }
}

async function publish(run: Run, deps: PublishDeps & Logs): Promise<void> {
  const { runs, queue } = deps;
  const { run_id: id, sequence } = run;
  if (!queue.hasBus && !hasReceivers(run)) {
    // A destination that is added later receives what follows; the webhook of a job is fixed.
    if (!isJob(run) && run.published < sequence) await runs.markPublished(id, sequence);
    return;
  }
  let { published } = run;
  while (published < sequence) {
    const read = await runs.events(id, published, pageSize, deps.now());
    const events = eventsBeforeHole(read, published, deps.now());
    const last = events.at(-1);
    if (!last) return;
    for (const event of events) await publishEvent(event, run, deps);
    published = last.sequence;
    await runs.markPublished(id, published);
  }
}

async function publishEvent(event: RunEvent, run: Run, deps: PublishDeps): Promise<void> {
  if (!isJob(run)) {
    if (isWatchEvent(event)) await publishWatchEvent(event, run, deps);
  } else for (const message of toJobMessages(event, run, deps)) await deps.queue.send(message);
}

/**
 * The filter of the webhook does not apply to the bus, whose rules choose events. First attempts keep the order of the
 * log: all have one subject.
 */
function toJobMessages({ type, sequence }: RunEvent, job: Job, { queue }: PublishDeps): QueueMessage[] {
  const { run_id: id, webhook_url: url, webhook_events: filter } = job;
  const subject = 'log';
  const message = { run: 'job', run_id: id, sequence, destination_id: webhookDestination, subject } as const;
  return [
    ...(url !== null && passesFilter(filter, type) ? [{ ...message, resend: 0, attempt: 0 }] : []),
    ...(queue.hasBus && isDeliveredByWebhook(type) ? [{ bus: 'job', id, sequence, subject } as const] : []),
  ];
}

type WatchPublishDeps = Pick<CoreDeps, 'queue'> & {
  deliveries: Pick<DeliveryStore, 'states' | 'changeState'>;
};

/**
 * Sends an event of a watch to the delivery queue, once for each destination that receives it, and keeps what each was
 * notified of.
 */
async function publishWatchEvent(event: WatchEvent, watch: Watch, deps: WatchPublishDeps): Promise<void> {
  for (const message of await toMessages(event, watch, deps)) await deps.queue.send(message);
  await forgetEnded(event, watch, deps);
}

async function toMessages(
  event: WatchEvent,
  { config }: Watch,
  { queue, deliveries }: WatchPublishDeps,
): Promise<QueueMessage[]> {
  const { watch_id: id, sequence } = event;
  const subject = findSubject(event);
  const states = await readStates(event, deliveries);
  const receivers = config.destinations.filter((destination) =>
    isWanted(destination, event, findState(destination, id, states).notified),
  );
  if (findPart(event) === 'opening')
    for (const receiver of receivers)
      await changeState(receiver, id, (state) => addOpening(state, { subject, sequence }), deliveries);
  const message = { run: 'watch', run_id: id, sequence, resend: 0, attempt: 0 } as const;
  return [
    ...receivers.map(({ destination_id }) => ({ ...message, destination_id, subject })),
    ...(event.type === 'alert_opened' && config.evidence_clip ? [{ clip: id, sequence }] : []),
    ...(queue.hasBus && event.type !== 'progress' ? [{ bus: 'watch', id, sequence, subject } as const] : []),
  ];
}

/** Forgets openings whose end a destination does not want. Other ones stay until an attempt of it. */
async function forgetEnded(
  event: WatchEvent,
  { config }: Watch,
  { deliveries }: WatchPublishDeps,
): Promise<void> {
  if (findPart(event) !== 'ending') return;
  const { watch_id: id, sequence } = event;
  const subject = findSubject(event);
  const states = await readStates(event, deliveries);
  for (const destination of config.destinations) {
    const { notified } = findState(destination, id, states);
    const isOver = !isWanted(destination, event, notified);
    if (isOver && notified.some((opening) => opening.subject === subject))
      await changeState(destination, id, (state) => removeOpenings(state, { subject, sequence }), deliveries);
  }
}

/** Receipt of an opening concerns what it begins. */
async function readStates(
  event: WatchEvent,
  deliveries: WatchPublishDeps['deliveries'],
): Promise<DestinationState[]> {
  const isAlone = findPart(event) === undefined && !('alert_id' in event.data);
  return isAlone ? [] : deliveries.states({ run: 'watch', run_id: event.watch_id });
}

function findState(
  destination: Destination,
  watchId: string,
  states: readonly DestinationState[],
): DestinationState {
  const { destination_id: id } = destination;
  const stored = states.find((state) => state.destination_id === id);
  return currentState(address(destination, watchId), stored);
}

async function changeState(
  destination: Destination,
  watchId: string,
  change: (state: DestinationState) => DestinationState,
  deliveries: WatchPublishDeps['deliveries'],
): Promise<void> {
  const addressed = address(destination, watchId);
  await deliveries.changeState(addressed, (stored) => change(currentState(addressed, stored)));
}

function address({ destination_id, fingerprint }: Destination, watchId: string): AddressedDestination {
  return { run: 'watch', run_id: watchId, destination_id, fingerprint };
}
