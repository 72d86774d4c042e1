import type { CoreDeps } from '../dependencies.ts';
import { afterAttempt, applyResend, countAttempts, giveUp, reasonToGiveUp } from './after-attempt.ts';
import type { AttemptResult } from './after-attempt.ts';
import { TransientError } from '../errors.ts';
import { initialDelivery, secondsUntilAttempt } from '../records/delivery.ts';
import type { Delivery, DeliveryMessage } from '../records/delivery.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import { jobLog } from '../ports/log.ts';
import { ageSeconds } from '../time.ts';
import { envelopeWithImages } from '../event/present-event.ts';

export type DeliverDeps = Pick<
  CoreDeps,
  | 'jobs'
  | 'media'
  | 'queue'
  | 'deliveries'
  | 'webhooks'
  | 'signer'
  | 'meter'
  | 'log'
  | 'baseUrl'
  | 'now'
  | 'random'
>;

/** `again`: the message stays at the head of its group for `afterSeconds`. A clock that is set back does not extend a duration. */
export type DeliveryOutcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };

/**
 * Makes one attempt to deliver an event to its webhook. A message may arrive twice or early: a finished delivery is skipped, and an attempt that is
 * not due waits. A crash between the attempt and its record repeats the attempt with the same `webhook-id`. A resend starts a new series of
 * attempts, also after a failed delivery. After a failed first attempt or a defect, the delivery continues in a message group of its own, so that later
 * events of the job do not wait for it. A transient error keeps its place in the order.
 */
export async function deliverEvent(message: DeliveryMessage, deps: DeliverDeps): Promise<DeliveryOutcome> {
  try {
    return await handleMessage(message, deps);
  } catch (error) {
    if (message.attempt > 0 || error instanceof TransientError) throw error;
    jobLog(deps.log, message.job_id).error('Delivery failed, moved to a message group of its own', {
      sequence: message.sequence,
      error: String(error),
    });
    return continueInOwnGroup(message, 1, deps);
  }
}

async function handleMessage(message: DeliveryMessage, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const event = await deps.jobs.event(message.job_id, message.sequence);
  if (!event) return { kind: 'done' };
  const delivery = await loadDelivery(message, event, deps);
  if (delivery.state !== 'pending' || message.resend < delivery.resend) return { kind: 'done' };
  const attempts = countAttempts(delivery);
  // A process that was killed, or the release before, left the retries in the group of the job.
  if (message.attempt === 0 && attempts > 0) return continueInOwnGroup(message, attempts, deps);
  const job = await deps.jobs.getIncludingExpired(message.job_id);
  if (!job?.webhook_url)
    return finish(giveUp(delivery, { why: 'the job is no longer kept', gone: false }), deps);
  const afterSeconds = secondsUntilAttempt(delivery, deps.now());
  if (afterSeconds > 0) return { kind: 'again', afterSeconds };
  const newest = await deps.deliveries.newest(job.job_id);
  const refusal = message.resend === 0 ? reasonToGiveUp(job, newest, deps.now()) : undefined;
  if (refusal) return finish(giveUp(delivery, refusal), deps);
  await reportLateness(delivery, event, deps);
  return attemptDelivery({ message, delivery, event, job, url: job.webhook_url }, deps);
}

async function loadDelivery(message: DeliveryMessage, event: JobEvent, deps: DeliverDeps): Promise<Delivery> {
  const { job_id: jobId, sequence } = event;
  const stored = await deps.deliveries.get(jobId, sequence);
  return applyResend(stored ?? initialDelivery(jobId, sequence, event.type), message.resend);
}

/** Sends the message again, to the group of this event alone, and completes this one. */
async function continueInOwnGroup(
  message: DeliveryMessage,
  attempt: number,
  { queue }: DeliverDeps,
): Promise<DeliveryOutcome> {
  await queue.send({ ...message, attempt });
  return { kind: 'done' };
}

/** Counts how much later than planned the attempt begins. A resend has no planned time for its first attempt. */
async function reportLateness(delivery: Delivery, event: JobEvent, deps: DeliverDeps): Promise<void> {
  const due = delivery.next_attempt_at ?? (delivery.resend === 0 ? event.timestamp : null);
  if (due !== null)
    await deps.meter.count({ kind: 'delivery_attempt', lateSeconds: ageSeconds(due, deps.now()) });
}

type Attempt = { message: DeliveryMessage; delivery: Delivery; event: JobEvent; job: Job; url: string };

async function attemptDelivery(attempt: Attempt, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const result = await send(attempt, deps);
  const attemptedAt = deps.now();
  const attempted = afterAttempt(attempt.delivery, result, attemptedAt, deps.random());
  report(attempted, result, deps);
  if (attempted.next_attempt_at === null) return finish(attempted, deps);
  await deps.deliveries.put(attempted);
  if (attempt.message.attempt === 0)
    return continueInOwnGroup(attempt.message, countAttempts(attempted), deps);
  return { kind: 'again', afterSeconds: ageSeconds(attemptedAt, new Date(attempted.next_attempt_at)) };
}

async function send({ job, event, url }: Attempt, deps: DeliverDeps): Promise<AttemptResult> {
  const startedAt = deps.now();
  const body = JSON.stringify(await envelopeWithImages(job, event, deps));
  const signature = await deps.signer.sign(job.caller, messageId(event), startedAt, body);
  const headers = { ...signature, 'content-type': 'application/json' };
  return { ...(await deps.webhooks.send({ url, headers, body })), startedAt };
}

/** Returns the same id for all attempts, so that a receiver can detect a repetition. */
function messageId(event: JobEvent): string {
  return `msg_${event.job_id}_${event.sequence}`;
}

async function finish(delivery: Delivery, deps: DeliverDeps): Promise<DeliveryOutcome> {
  await deps.deliveries.put(delivery);
  await deps.meter.count({ kind: 'delivery', delivered: delivery.state === 'delivered' });
  return { kind: 'done' };
}

function report(delivery: Delivery, { status, error }: AttemptResult, deps: DeliverDeps): void {
  const log = jobLog(deps.log, delivery.job_id);
  const { sequence, next_attempt_at } = delivery;
  const fields = { event: delivery.event_type, sequence, status, error };
  if (delivery.state === 'delivered') log.info('Webhook delivered', fields);
  else if (delivery.state === 'pending')
    log.warning('Webhook attempt failed', { ...fields, next_attempt_at });
  else log.error(delivery.error ?? 'Failed to deliver webhook', fields);
}
