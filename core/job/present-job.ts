import type { z } from 'zod';
import { computeCoverage, watchSeconds } from '../policies/job/coverage.ts';
import { onClock } from '../sight/clock-change.ts';
import { mapJobTimes } from '../policies/job/map-times.ts';
import { withKind } from '../records/job-kind.ts';
import type { Delivery } from '../records/delivery.ts';
import type { Job } from '../records/job.ts';
import { toJobType } from '../records/job-type.ts';
import { maskUrl } from '../stream/mask-url.ts';
import type {
  finalStatsSchema,
  jobDetailSchema,
  jobStatsSchema,
  jobSummarySchema,
} from '../responses/jobs.ts';
import { envelopeWithLinks } from '../event/present-event.ts';
import type { JobView } from './read-jobs.ts';

/** Job creation response and list item. */
export function jobSummary(job: Job, message?: string): z.input<typeof jobSummarySchema> {
  return {
    job_id: job.run_id,
    status: job.status,
    created_at: job.created_at,
    stream_url: maskUrl(job.stream_url),
    job_type: toJobType(job.policy),
    details: {
      ...visibleConfig(job),
      delivery: job.webhook_url === null ? 'polling' : 'webhook',
      reason: job.reason,
    },
    ...(message === undefined ? {} : { message }),
  };
}

export function jobDetail(
  { job, findings, deliveries }: JobView,
  baseUrl: string,
  now: Date,
): z.input<typeof jobDetailSchema> {
  const shown = findings.map((event) => envelopeWithLinks(job, event, { baseUrl }));
  return {
    job_id: job.run_id,
    status: job.status,
    job_type: toJobType(job.policy),
    created_at: job.created_at,
    stream_url: maskUrl(job.stream_url),
    config: visibleConfig(job),
    stats: {
      ...jobStats(job, now),
      notices: job.notices,
      ...withKind(job, (_, { findings: { name } }) => ({ [name]: shown })),
      ...(job.webhook_url === null ? {} : { webhook: webhookStats(deliveries) }),
    },
  };
}

/** Returns the numbers of a job, running or ended; `reason` and `error` once it has ended. */
export function jobStats(stored: Job, now: Date): z.input<typeof finalStatsSchema> {
  const job = onClock(stored, now, mapJobTimes);
  return {
    ...(job.reason === null ? {} : { reason: job.reason }),
    ...(job.failure === null ? {} : { error: job.failure }),
    auto_stopped: job.reason === 'max_duration_reached',
    ...job.counters,
    ...withKind(job, ({ state }, kind) => kind.toNumbers(state)),
    last_check: job.last_tick,
    watch_duration_seconds: watchSeconds(job, now),
    started_at: job.started_at,
    ended_at: job.ended_at,
    next_check_at: job.ended_at === null && job.next !== null ? job.next.wait_until : null,
    last_frame_at: job.sight.last_frame?.captured_at ?? null,
    coverage: computeCoverage(job, now),
  };
}

function visibleConfig(job: Job) {
  return { ...configWithWebhook(job), ...(job.labels.length > 0 && { labels: job.labels }) };
}

function configWithWebhook(job: Job) {
  if (job.webhook_url === null) return job.config;
  const filter = job.webhook_events === null ? {} : { webhook_events: job.webhook_events };
  return { ...job.config, webhook_url: maskUrl(job.webhook_url), ...filter };
}

function webhookStats(deliveries: Delivery[]): z.input<typeof jobStatsSchema>['webhook'] {
  const failed = deliveries.filter((delivery) => delivery.state === 'failed');
  return {
    delivered: deliveries.filter((delivery) => delivery.state === 'delivered').length,
    pending: deliveries.filter((delivery) => delivery.state === 'pending').length,
    failed: failed.length,
    failures: failed.slice(-10).map((delivery) => ({
      sequence: delivery.sequence,
      type: delivery.event_type,
      attempts: delivery.attempts.length,
      message: 'Failed to deliver webhook',
      error: delivery.error,
    })),
  };
}
