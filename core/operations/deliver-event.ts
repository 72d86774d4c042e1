import type { Collaborators } from '../collaborators.ts';
import { decideAfterAttempt, givenUp, refusalOf } from '../decision/after-attempt.ts';
import type { AttemptDecision, Refusal } from '../decision/after-attempt.ts';
import { attemptsMade, firstDelivery, inSeries, secondsUntilAttempt, withAttempt } from '../delivery.ts';
import type { Delivery, DeliveryMessage } from '../delivery.ts';
import type { JobEvent } from '../event.ts';
import type { Job } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import { ageSeconds } from '../time.ts';
import type { WebhookResult } from '../ports/delivery.ts';
import { pushedEnvelope } from './present-event.ts';

export type DeliverNeeds = Pick<
  Collaborators,
  'jobs' | 'media' | 'deliveries' | 'webhooks' | 'signer' | 'meter' | 'log' | 'baseUrl' | 'now' | 'random'
>;

/** `again`: the message stays at the head of its job's group for so long. A duration, which no clock that is set back makes longer. */
export type DeliveryOutcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };

/**
 * One attempt to bring one event to its webhook. A message may come twice or early: what is finished is skipped, and what
 * is not due waits. A crash between the attempt and its record repeats the attempt with the same `webhook-id`. A resend is
 * a fresh series of attempts, also for what was given up.
 */
export async function deliverEvent(message: DeliveryMessage, c: DeliverNeeds): Promise<DeliveryOutcome> {
  const now = c.now();
  const event = await c.jobs.event(message.job_id, message.sequence);
  if (!event) return { kind: 'done' };
  const delivery = await deliveryOf(message, event, c);
  if (delivery.state !== 'pending') return { kind: 'done' };
  const job = await c.jobs.find(message.job_id);
  if (!job?.webhook_url)
    return finish(givenUp(delivery, { why: 'the job is no longer kept', gone: false }), c);
  const afterSeconds = secondsUntilAttempt(delivery, now);
  if (afterSeconds > 0) return { kind: 'again', afterSeconds };
  const refusal = message.resend === 0 ? await whyNotSend(job, delivery, c) : undefined;
  if (refusal) return finish(givenUp(delivery, refusal), c);
  const at = c.now();
  const result = await attempt(job, event, job.webhook_url, at, c);
  return record(delivery, at, result, c);
}

async function deliveryOf(message: DeliveryMessage, event: JobEvent, c: DeliverNeeds): Promise<Delivery> {
  const { job_id: jobId, sequence } = event;
  const stored = await c.deliveries.get(jobId, sequence);
  return inSeries(stored ?? firstDelivery(jobId, sequence, event.type), message.resend);
}

/** Why nothing is sent; `previous` is the job's delivery before this one. */
async function whyNotSend(job: Job, delivery: Delivery, c: DeliverNeeds): Promise<Refusal | undefined> {
  return refusalOf(job, await c.deliveries.before(job.job_id, delivery.sequence), c.now());
}

async function attempt(
  job: Job,
  event: JobEvent,
  url: string,
  at: Date,
  c: DeliverNeeds,
): Promise<WebhookResult> {
  const body = JSON.stringify(await pushedEnvelope(job, event, c));
  const headers = await c.signer.sign(job.caller, messageId(event), at, body);
  return c.webhooks.send({ url, headers: { ...headers, 'content-type': 'application/json' }, body });
}

/** Constant over attempts, so that a receiver can tell a repetition. */
function messageId(event: JobEvent): string {
  return `msg_${event.job_id}_${event.sequence}`;
}

async function record(
  before: Delivery,
  at: Date,
  result: WebhookResult,
  c: DeliverNeeds,
): Promise<DeliveryOutcome> {
  const delivery = withAttempt(before, {
    at: at.toISOString(),
    status: result.status,
    latency_ms: result.latencyMs,
    error: result.error,
  });
  const decidedAt = c.now();
  const decision = decideAfterAttempt(attemptsMade(delivery), result, decidedAt, c.random());
  report(delivery, decision, result, c);
  if (decision.kind === 'delivered')
    return finish({ ...delivery, state: 'delivered', next_attempt_at: null }, c);
  if (decision.kind === 'failed') {
    const { error, gone } = decision;
    return finish({ ...delivery, state: 'failed', next_attempt_at: null, error, gone }, c);
  }
  await c.deliveries.put({ ...delivery, next_attempt_at: decision.at.toISOString() });
  return { kind: 'again', afterSeconds: ageSeconds(decidedAt, decision.at) };
}

async function finish(delivery: Delivery, c: DeliverNeeds): Promise<DeliveryOutcome> {
  await c.deliveries.put(delivery);
  await c.meter.count({ kind: 'delivery', delivered: delivery.state === 'delivered' });
  return { kind: 'done' };
}

function report(delivery: Delivery, decision: AttemptDecision, result: WebhookResult, c: DeliverNeeds): void {
  const log = jobLog(c.log, delivery.job_id);
  const fields = {
    event: delivery.event_type,
    sequence: delivery.sequence,
    status: result.status,
    error: result.error,
  };
  if (decision.kind === 'delivered') log.info('Webhook delivered', fields);
  else if (decision.kind === 'retry')
    log.warning('Webhook attempt failed', { ...fields, next_attempt_at: decision.at.toISOString() });
  else log.error(decision.error, fields);
}
