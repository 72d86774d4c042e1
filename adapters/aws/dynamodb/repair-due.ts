import { isDeliveredByWebhook } from '../../../core/records/delivery.ts';
import type { JobEvent } from '../../../core/records/event.ts';
import type { Job } from '../../../core/records/job.ts';
import { isTerminal } from '../../../core/records/job.ts';

/** Sequence of the newest webhook event, and the epoch minute of its commit. */
export type NewestWebhookEvent = { sequence: number; minute: number };

/** State before the first webhook event. */
export const noWebhookEvent: NewestWebhookEvent = { sequence: 0, minute: 0 };

/** Returns the newest webhook event after `events` were appended. */
export function newestWebhookEvent(
  before: NewestWebhookEvent,
  events: readonly JobEvent[],
): NewestWebhookEvent {
  const event = events.findLast(({ type }) => isDeliveredByWebhook(type));
  return event ? { sequence: event.sequence, minute: toEpochMinute(new Date(event.timestamp)) } : before;
}

/** Returns true if an event that the webhook or the event bus receives has not reached the delivery queue. */
export function isUnpublished(job: Job, hook: NewestWebhookEvent, hasBus: boolean): boolean {
  return (job.webhook_url !== null || hasBus) && job.published < hook.sequence;
}

/**
 * Returns the epoch minute from which `reconcile` must inspect the job: unpublished event or lease expiry. Returns
 * undefined if no inspection is due. The minute is rounded down, so `reconcile` must check the job itself.
 */
export function repairDue(job: Job, hook: NewestWebhookEvent, hasBus: boolean): number | undefined {
  const dues = [
    ...(isUnpublished(job, hook, hasBus) ? [hook.minute] : []),
    ...(isTerminal(job.status) ? [] : [toEpochMinute(new Date(job.lease_until))]),
  ];
  return dues.length === 0 ? undefined : Math.min(...dues);
}

/** Converts a time to minutes since the epoch, rounded down. */
export function toEpochMinute(at: Date): number {
  return Math.floor(at.getTime() / 60_000);
}
