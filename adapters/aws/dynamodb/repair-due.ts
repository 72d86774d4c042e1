import { goesToWebhook, type JobEvent } from '../../../core/event.ts';
import type { Job } from '../../../core/job.ts';
import { isTerminal } from '../../../core/transitions.ts';

/** The newest event that a webhook receives, and the minute in which it was logged. */
export type NewestHook = { sequence: number; minute: number };

export const noHook: NewestHook = { sequence: 0, minute: 0 };

export function newestHook(before: NewestHook, events: JobEvent[]): NewestHook {
  const event = events.findLast(({ type }) => goesToWebhook(type));
  return event ? { sequence: event.sequence, minute: minuteOf(new Date(event.timestamp)) } : before;
}

export function isUnpublished(job: Job, hook: NewestHook): boolean {
  return job.webhook_url !== null && job.published < hook.sequence;
}

/**
 * From which minute on the job may need repair: since its newest event waits for the delivery queue, or from the minute in which its
 * lease ends; undefined: never again by itself. Rounded down, so whoever finds it looks at the job itself.
 */
export function repairDue(job: Job, hook: NewestHook): number | undefined {
  const dues = [
    ...(isUnpublished(job, hook) ? [hook.minute] : []),
    ...(isTerminal(job.status) ? [] : [minuteOf(new Date(job.lease_until))]),
  ];
  return dues.length === 0 ? undefined : Math.min(...dues);
}

export function minuteOf(at: Date): number {
  return Math.floor(at.getTime() / 60_000);
}
