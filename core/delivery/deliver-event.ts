import type { CoreDeps } from '../dependencies.ts';
import { decideAfterAttempt, markGivenUp, reasonToGiveUp } from './after-attempt.ts';
import type { AttemptDecision, GiveUpReason } from './after-attempt.ts';
import {
  countAttempts,
  initialDelivery,
  applyResend,
  secondsUntilAttempt,
  appendAttempt,
} from '../records/delivery.ts';
import type { Delivery, DeliveryMessage } from '../records/delivery.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import { jobLog } from '../ports/log.ts';
import { ageSeconds } from '../time.ts';
import type { WebhookResult } from '../ports/delivery.ts';
import { envelopeWithImages } from '../event/present-event.ts';

export type DeliverDeps = Pick<
  CoreDeps,
  'jobs' | 'media' | 'deliveries' | 'webhooks' | 'signer' | 'meter' | 'log' | 'baseUrl' | 'now' | 'random'
>;

/** `again`: the message stays at the head of its job's group for so long. A duration, which no clock that is set back makes longer. */
export type DeliveryOutcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };

/**
 * One attempt to bring one event to its webhook. A message may come twice or early: what is finished is skipped, and what
 * is not due waits. A crash between the attempt and its record repeats the attempt with the same `webhook-id`. A resend is
 * a fresh series of attempts, also for what was given up.
 */
export async function deliverEvent(message: DeliveryMessage, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const now = deps.now();
  const event = await deps.jobs.event(message.job_id, message.sequence);
  if (!event) return { kind: 'done' };
  const delivery = await loadDelivery(message, event, deps);
  if (delivery.state !== 'pending') return { kind: 'done' };
  const job = await deps.jobs.getIncludingExpired(message.job_id);
  if (!job?.webhook_url)
    return finish(markGivenUp(delivery, { why: 'the job is no longer kept', gone: false }), deps);
  const afterSeconds = secondsUntilAttempt(delivery, now);
  if (afterSeconds > 0) return { kind: 'again', afterSeconds };
  const refusal = message.resend === 0 ? await whyNotSend(job, delivery, deps) : undefined;
  if (refusal) return finish(markGivenUp(delivery, refusal), deps);
  const at = deps.now();
  const result = await attempt(job, event, job.webhook_url, at, deps);
  return record(delivery, at, result, deps);
}

async function loadDelivery(message: DeliveryMessage, event: JobEvent, deps: DeliverDeps): Promise<Delivery> {
  const { job_id: jobId, sequence } = event;
  const stored = await deps.deliveries.get(jobId, sequence);
  return applyResend(stored ?? initialDelivery(jobId, sequence, event.type), message.resend);
}

/** Why nothing is sent; `previous` is the job's delivery before this one. */
async function whyNotSend(
  job: Job,
  delivery: Delivery,
  deps: DeliverDeps,
): Promise<GiveUpReason | undefined> {
  return reasonToGiveUp(job, await deps.deliveries.previous(job.job_id, delivery.sequence), deps.now());
}

async function attempt(
  job: Job,
  event: JobEvent,
  url: string,
  at: Date,
  deps: DeliverDeps,
): Promise<WebhookResult> {
  const body = JSON.stringify(await envelopeWithImages(job, event, deps));
  const headers = await deps.signer.sign(job.caller, messageId(event), at, body);
  return deps.webhooks.send({ url, headers: { ...headers, 'content-type': 'application/json' }, body });
}

/** Constant over attempts, so that a receiver can tell a repetition. */
function messageId(event: JobEvent): string {
  return `msg_${event.job_id}_${event.sequence}`;
}

async function record(
  before: Delivery,
  at: Date,
  result: WebhookResult,
  deps: DeliverDeps,
): Promise<DeliveryOutcome> {
  const delivery = appendAttempt(before, {
    at: at.toISOString(),
    status: result.status,
    latency_ms: result.latencyMs,
    error: result.error,
  });
  const decidedAt = deps.now();
  const decision = decideAfterAttempt(countAttempts(delivery), result, decidedAt, deps.random());
  report(delivery, decision, result, deps);
  if (decision.kind === 'delivered')
    return finish({ ...delivery, state: 'delivered', next_attempt_at: null }, deps);
  if (decision.kind === 'failed') {
    const { error, gone } = decision;
    return finish({ ...delivery, state: 'failed', next_attempt_at: null, error, gone }, deps);
  }
  await deps.deliveries.put({ ...delivery, next_attempt_at: decision.at.toISOString() });
  return { kind: 'again', afterSeconds: ageSeconds(decidedAt, decision.at) };
}

async function finish(delivery: Delivery, deps: DeliverDeps): Promise<DeliveryOutcome> {
  await deps.deliveries.put(delivery);
  await deps.meter.count({ kind: 'delivery', delivered: delivery.state === 'delivered' });
  return { kind: 'done' };
}

function report(
  delivery: Delivery,
  decision: AttemptDecision,
  result: WebhookResult,
  deps: DeliverDeps,
): void {
  const log = jobLog(deps.log, delivery.job_id);
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
