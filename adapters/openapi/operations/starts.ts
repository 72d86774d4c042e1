import { z } from 'zod';
import { idempotencyKey } from '../../../core/requests/fields.ts';
import { digestRequestSchema } from '../../../core/requests/live-digest.ts';
import { monitorRequestSchema } from '../../../core/requests/live-monitor.ts';
import { jobSummarySchema } from '../../../core/responses/jobs.ts';
import { acceptedDigest, digestRequest, digestStream, digestWebhookRequest } from '../examples/digest.ts';
import { monitorStream } from '../examples/events.ts';
import { acceptedJob, acceptedWebhookJob, condition, streamUrl, webhookUrl } from '../examples/jobs.ts';
import type { Operation } from '../operation.ts';

const headers = z.object({
  'Idempotency-Key': idempotencyKey
    .optional()
    .describe(
      'The same key and body within a day is answered with the job that it made; another body is 422',
    ),
});

const start = { method: 'post', tag: 'jobs', scope: 'jobs', effect: 'starts', headers } as const;

const resume = 'Cut off, read on at `GET /jobs/{job_id}/events` with `Last-Event-ID`.';

export const startOperations: Operation[] = [
  {
    ...start,
    id: 'live_monitor',
    path: '/live-monitor',
    title: 'Watch for a condition',
    description:
      'Starts a job that checks a condition again and again and alerts when it holds. With `webhook_url` events are sent there; else with `Accept: text/event-stream` they are the answer; else poll the job.',
    body: monitorRequestSchema,
    answer: {
      kind: 'json',
      description: 'The job was accepted',
      schema: jobSummarySchema,
      asEvents: {
        description: `Events \`started\`, \`progress\`, \`triggered\`, \`stopped\` and \`error\`; the last two end the stream. Each \`data:\` line is one StreamedEvent, each \`id:\` its sequence. ${resume}`,
        example: monitorStream,
      },
    },
    errors: [
      'NOT_LIVESTREAM',
      'INVALID_URL',
      'STREAM_FETCH_FAILED',
      'INVALID_INPUT_MODE',
      'MAX_JOBS_REACHED',
      'RATE_LIMITED',
      'JOB_NOT_FOUND',
    ],
    examples: {
      body: {
        polling: { stream_url: streamUrl, condition, input_mode: 'frames' },
        webhook: {
          stream_url: streamUrl,
          condition,
          webhook_url: webhookUrl,
          max_triggers: null,
          trigger_cooldown_seconds: 60,
        },
      },
      answer: { polling: acceptedJob, webhook: acceptedWebhookJob },
    },
  },
  {
    ...start,
    id: 'live_digest',
    path: '/live-digest',
    title: 'Tell what happens',
    description:
      'Starts a job that samples a stream and tells in words what happened in each window of time. `Accept: text/event-stream` without `webhook_url` makes the events the answer; with `webhook_url` they are sent there; else poll the job.',
    body: digestRequestSchema,
    answer: {
      kind: 'json',
      description: 'The job was accepted',
      schema: jobSummarySchema,
      asEvents: {
        description: `Events \`started\`, \`progress\`, \`summary\`, \`stopped\` and \`error\`; the last two end the stream. Each \`data:\` line is one StreamedEvent, each \`id:\` its sequence. ${resume}`,
        example: digestStream,
      },
    },
    errors: [
      'NOT_LIVESTREAM',
      'INVALID_URL',
      'STREAM_FETCH_FAILED',
      'MAX_JOBS_REACHED',
      'RATE_LIMITED',
      'JOB_NOT_FOUND',
    ],
    examples: {
      body: { polling: digestRequest, webhook: digestWebhookRequest },
      answer: { polling: acceptedDigest },
    },
  },
];
