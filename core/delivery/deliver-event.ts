import type { CoreDeps } from '../dependencies.ts';
import { afterAttempt, applyResend, giveUp, reasonToGiveUp } from './after-attempt.ts';
import type { AttemptResult, GiveUpReason } from './after-attempt.ts';
import { initialDelivery, secondsUntilAttempt } from '../records/delivery.ts';
import type { Delivery, DeliveryMessage } from '../records/delivery.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import { jobLog } from '../ports/log.ts';
import { ageSeconds } from '../time.ts';
import { envelopeWithImages } from '../event/present-event.ts';

export type DeliverDeps = Pick<
  CoreDeps,
  'jobs' | 'media' | 'deliveries' | 'webhooks' | 'signer' | 'meter' | 'log' | 'baseUrl' | 'now' | 'random'
>;

/** `again`: the message stays at the head of its job's group for `afterSeconds`. A clock that is set back does not extend a duration. */
export type DeliveryOutcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };

/**
 * Makes one attempt to deliver an event to its webhook. A message may arrive twice or early: a finished delivery is skipped, and an attempt that is
 * not due waits. A crash between the attempt and its record repeats the attempt with the same `webhook-id`. A resend starts a new series of
 * attempts, also after a failed delivery.
 */
export async function deliverEvent(message: DeliveryMessage, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const now = deps.now();
  const event = await deps.jobs.event(message.job_id, message.sequence);
  if (!event) return { kind: 'done' };
  const delivery = await loadDelivery(message, event, deps);
  if (delivery.state !== 'pending') return { kind: 'done' };
  const job = await deps.jobs.getIncludingExpired(message.job_id);
  if (!job?.webhook_url)
    return finish(giveUp(delivery, { why: 'the job is no longer kept', gone: false }), deps);
  const afterSeconds = secondsUntilAttempt(delivery, now);
  if (afterSeconds > 0) return { kind: 'again', afterSeconds };
  const refusal = message.resend === 0 ? await findReasonToGiveUp(job, delivery, deps) : undefined;
  if (refusal) return finish(giveUp(delivery, refusal), deps);
  const result = await attempt(job, event, job.webhook_url, deps);
  const attemptedAt = deps.now();
  const attempted = afterAttempt(delivery, result, attemptedAt, deps.random());
  report(attempted, result, deps);
  if (attempted.next_attempt_at === null) return finish(attempted, deps);
  await deps.deliveries.put(attempted);
  return { kind: 'again', afterSeconds: ageSeconds(attemptedAt, new Date(attempted.next_attempt_at)) };
}

async function loadDelivery(message: DeliveryMessage, event: JobEvent, deps: DeliverDeps): Promise<Delivery> {
  const { job_id: jobId, sequence } = event;
  const stored = await deps.deliveries.get(jobId, sequence);
  return applyResend(stored ?? initialDelivery(jobId, sequence, event.type), message.resend);
}

/** Returns a reason to give up without an attempt. */
async function findReasonToGiveUp(
  job: Job,
  delivery: Delivery,
  deps: DeliverDeps,
): Promise<GiveUpReason | undefined> {
  return reasonToGiveUp(job, await deps.deliveries.previous(job.job_id, delivery.sequence), deps.now());
}

async function attempt(job: Job, event: JobEvent, url: string, deps: DeliverDeps): Promise<AttemptResult> {
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
