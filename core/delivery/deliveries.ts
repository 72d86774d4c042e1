import type { CoreDeps, Limits } from '../dependencies.ts';
import { initialDelivery, passesFilter } from '../records/delivery.ts';
import type { Delivery } from '../records/delivery.ts';
import { rules } from '../rules.ts';
import { RateLimitedError, WatchpostError } from '../errors.ts';
import type { Job } from '../records/job.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { jobLog } from '../ports/log.ts';
import type { DeliveryListQuery } from '../requests/deliveries.ts';
import { ageSeconds, isOver } from '../time.ts';
import { requireOwnJob } from '../job/read-jobs.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'deliveries' | 'queue' | 'log' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

/** Returns a page of a job's deliveries with all attempts, in order of their events. Throws `JobNotFoundError`. */
export async function readDeliveries(jobId: string, caller: string, query: DeliveryListQuery, deps: Deps) {
  const job = await requireOwnJob(jobId, caller, deps);
  const all = job.webhook_url === null ? [] : await deps.deliveries.list(jobId);
  const wanted = all.filter(
    ({ sequence, state }) => sequence > query.after && (query.state === undefined || state === query.state),
  );
  const page = wanted.slice(0, query.limit);
  return {
    job_id: jobId,
    webhook_url: job.webhook_url === null ? null : maskUrl(job.webhook_url),
    webhook_events: job.webhook_events,
    deliveries: page.map(presentDelivery),
    next_after: page.at(-1)?.sequence ?? query.after,
    has_more: wanted.length > page.length,
  };
}

/**
 * Sends an event again that arrived or is given up, behind the pending deliveries of the job. The resend exists only in its message: two
 * requests before an attempt send it once, and a lost message leaves the delivery unchanged. Throws `RateLimitedError` within
 * `minResendSeconds` of the last resend.
 */
export async function resendDelivery(jobId: string, sequence: number, caller: string, deps: Deps) {
  const job = await requireOwnJob(jobId, caller, deps);
  const delivery = await endedDelivery(job, sequence, deps);
  refuseTooSoon(delivery, deps.now());
  const resend = delivery.resend + 1;
  await deps.queue.send({ job_id: jobId, sequence, resend, attempt: 0 });
  jobLog(deps.log, jobId).info('Delivery is sent again', { sequence, resend });
  return {
    job_id: jobId,
    sequence,
    type: delivery.event_type,
    resend,
    message: 'The event is sent again. Read GET /jobs/{job_id}/deliveries for the result.',
  };
}

async function endedDelivery(job: Job, sequence: number, deps: Deps): Promise<Delivery> {
  const event = job.webhook_url === null ? undefined : await deps.jobs.event(job.job_id, sequence);
  if (!event || !passesFilter(job.webhook_events, event.type)) throw noSuchDelivery();
  const stored = await deps.deliveries.get(job.job_id, sequence);
  const delivery = stored ?? initialDelivery(job.job_id, sequence, event.type);
  if (delivery.state === 'pending') throw stillPending();
  return delivery;
}

/** The first resend may follow immediately: its receiver may just have been repaired. */
function refuseTooSoon({ attempts, resend }: Delivery, now: Date): void {
  const last = attempts.at(-1);
  if (resend === 0 || last === undefined) return;
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
    attempts: delivery.attempts.map(({ at, status, latency_ms: latencyMs, error, resend }) => ({
      time: at,
      status,
      latency_ms: latencyMs,
      error,
      resend,
    })),
    next_attempt_at: delivery.next_attempt_at,
    error: delivery.error,
  };
}

function noSuchDelivery(): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    'No such delivery',
    'Take the sequence from GET /jobs/{job_id}/deliveries; only jobs with a webhook_url have any, of the types in webhook_events.',
  );
}

function stillPending(): WatchpostError {
  return new WatchpostError(
    'BAD_REQUEST',
    'The delivery is still under way',
    'Wait until its state is delivered or failed, then send it again.',
  );
}
