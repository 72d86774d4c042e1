import type { CoreDeps, Limits } from '../dependencies.ts';
import { initialDelivery, passesFilter, webhookDestination } from '../records/delivery.ts';
import type { Delivery, DeliveryKey, RunKey } from '../records/delivery.ts';
import { isWatchEvent, type RunEvent } from '../records/run.ts';
import { rules } from '../rules.ts';
import { RateLimitedError, WatchpostError } from '../errors.ts';
import { maskUrl } from '../stream/mask-url.ts';
import type { DeliveryListQuery, WatchDeliveryListQuery } from '../requests/deliveries.ts';
import { ageSeconds, isOver } from '../time.ts';
import { requireOwnJob } from '../job/read-jobs.ts';
import { requireOwnWatch } from '../watch/commit-watch.ts';
import { findPart, findSubject, isWanted } from './receivers.ts';

type Deps = Pick<CoreDeps, 'runs' | 'deliveries' | 'queue' | 'log' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

/** Returns a page of a job's deliveries with all attempts, in order of their events. Throws `JobNotFoundError`. */
export async function readDeliveries(jobId: string, caller: string, query: DeliveryListQuery, deps: Deps) {
  const job = await requireOwnJob(jobId, caller, deps);
  const { deliveries, ...position } = await readPage({ run: 'job', run_id: jobId }, query, deps);
  return {
    job_id: jobId,
    webhook_url: job.webhook_url === null ? null : maskUrl(job.webhook_url),
    webhook_events: job.webhook_events,
    deliveries: deliveries.map(presentDelivery),
    ...position,
  };
}

/** Returns a page of a watch's deliveries with all attempts, in order of their events. Throws `WatchNotFoundError`. */
export async function readWatchDeliveries(
  watchId: string,
  caller: string,
  query: WatchDeliveryListQuery,
  deps: Deps,
) {
  await requireOwnWatch(watchId, caller, deps);
  const { deliveries, ...position } = await readPage({ run: 'watch', run_id: watchId }, query, deps);
  const presented = deliveries.map((delivery) => ({
    destination_id: delivery.destination_id,
    ...presentDelivery(delivery),
  }));
  return { watch_id: watchId, deliveries: presented, ...position };
}

/**
 * Sends an event of a job again that arrived or is given up, behind the pending deliveries of the job. The resend
 * exists only in its message: two requests before an attempt send it once, and a lost message leaves the delivery
 * unchanged. Throws `RateLimitedError` within `minResendSeconds` of the last resend.
 */
export async function resendDelivery(jobId: string, sequence: number, caller: string, deps: Deps) {
  const job = await requireOwnJob(jobId, caller, deps);
  const event = job.webhook_url === null ? undefined : await deps.runs.event(jobId, sequence);
  if (!event || !passesFilter(job.webhook_events, event.type)) throw noSuchDelivery('jobs/{job_id}');
  const key = { run: 'job', run_id: jobId, sequence, destination_id: webhookDestination } as const;
  return {
    job_id: jobId,
    ...(await resend(key, event, { subject: 'log', path: 'jobs/{job_id}' }, deps)),
  };
}

/**
 * Sends an event of a watch to a destination again, as `resendDelivery`. A success enables a destination that was
 * disabled.
 */
export async function resendWatchDelivery(
  { watchId, sequence, destinationId }: { watchId: string; sequence: number; destinationId: string },
  caller: string,
  deps: Deps,
) {
  const watch = await requireOwnWatch(watchId, caller, deps);
  const path = 'watches/{watch_id}';
  const destination = watch.config.destinations.find(({ destination_id: id }) => id === destinationId);
  const event = await deps.runs.event(watchId, sequence);
  const key = { run: 'watch', run_id: watchId, sequence, destination_id: destinationId } as const;
  if (!event || !isWatchEvent(event) || !destination || destination.type === 'heartbeat')
    throw noSuchDelivery(path);
  if (!isWanted(destination, event) && !(await deps.deliveries.get(key))) throw noSuchDelivery(path);
  const isUntold = async () => {
    if (watch.published < sequence || findPart(event) !== 'opening') return false;
    const state = await deps.deliveries.state(key);
    return !state?.notified.some((opening) => opening.sequence === sequence);
  };
  const sent = await resend(key, event, { subject: findSubject(event), path, isUntold }, deps);
  return { watch_id: watchId, destination_id: destinationId, ...sent };
}

const readSize = 500;

async function readPage(
  run: RunKey,
  { after, limit, state, destination_id: id }: WatchDeliveryListQuery,
  { deliveries }: Deps,
) {
  const wanted: Delivery[] = [];
  let position = after;
  let isEnd = false;
  while (!isEnd && wanted.length <= limit) {
    const read = await deliveries.list(run, position, readSize);
    isEnd = read.length < readSize;
    const last = read.at(-1)?.sequence ?? position;
    // An event has a delivery for each destination: the last one may not be complete.
    const whole = isEnd ? read : read.filter(({ sequence }) => sequence < last);
    position = whole.at(-1)?.sequence ?? position;
    wanted.push(
      ...whole.filter(
        (each) =>
          (state === undefined || each.state === state) && (id === undefined || each.destination_id === id),
      ),
    );
  }
  const end = wanted[limit - 1]?.sequence ?? Infinity;
  const page = wanted.filter(({ sequence }) => sequence <= end);
  return {
    deliveries: page,
    next_after: page.at(-1)?.sequence ?? after,
    has_more: page.length < wanted.length || !isEnd,
  };
}

async function resend(
  key: DeliveryKey,
  event: Pick<RunEvent, 'type' | 'timestamp'>,
  { subject, path, isUntold }: { subject: string; path: string; isUntold?: () => Promise<boolean> },
  deps: Deps,
) {
  const stored = await deps.deliveries.get(key);
  // A destination that was added after the event has no delivery of it. What was published to whom is known of openings
  // only.
  const isMissing =
    stored === undefined &&
    (isOver(event.timestamp, rules.firstAttemptSeconds, deps.now()) || (await isUntold?.()) === true);
  const delivery = stored ?? initialDelivery(key, event.type);
  if (delivery.state === 'pending' && !isMissing) throw stillPending();
  refuseTooSoon(delivery, deps.now());
  const { run, run_id, sequence, destination_id } = key;
  const number = delivery.resend + 1;
  await deps.queue.send({ run, run_id, sequence, destination_id, subject, resend: number, attempt: 0 });
  deps.log.info('Delivery is sent again', {
    [`${run}_id`]: run_id,
    destination_id,
    sequence,
    resend: number,
  });
  return {
    sequence,
    type: delivery.event_type,
    resend: number,
    message: `The event is sent again. Read GET /${path}/deliveries for the result.`,
  };
}

/** The first resend may follow immediately: its receiver may just have been repaired. */
function refuseTooSoon({ attempts, resend: number }: Delivery, now: Date): void {
  const last = attempts.at(-1);
  if (number === 0 || last === undefined) return;
  if (isOver(last.at, rules.minResendSeconds, now)) return;
  const wait = Math.ceil(rules.minResendSeconds - ageSeconds(last.at, now));
  throw new RateLimitedError(
    `A delivery may be sent again every ${rules.minResendSeconds} s: try again in ${wait} s.`,
    wait,
  );
}

function presentDelivery(delivery: Delivery) {
  return {
    sequence: delivery.sequence,
    type: delivery.event_type,
    state: delivery.state,
    resend: delivery.resend,
    attempts: delivery.attempts.map(({ at, status, latency_ms: latencyMs, error, resend: number }) => ({
      time: at,
      status,
      latency_ms: latencyMs,
      error,
      resend: number,
    })),
    next_attempt_at: delivery.next_attempt_at,
    error: delivery.error,
  };
}

const remediations: Record<string, string> = {
  'jobs/{job_id}':
    'Take the sequence from GET /jobs/{job_id}/deliveries; only jobs with a webhook_url have any, of the types in webhook_events.',
  'watches/{watch_id}':
    'Take sequence and destination_id from GET /watches/{watch_id}/deliveries; heartbeats have none.',
};

function noSuchDelivery(path: string): WatchpostError {
  return new WatchpostError('NOT_FOUND', 'No such delivery', remediations[path] ?? '');
}

function stillPending(): WatchpostError {
  return new WatchpostError(
    'BAD_REQUEST',
    'The delivery is still under way',
    'Wait until its state is delivered or failed, then send it again.',
  );
}
