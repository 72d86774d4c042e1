import { createIdempotently, acceptJob, type JobRequest, runAgain } from '../../../core/job/accept-job.ts';
import { jobPathSchema } from '../../../core/requests/jobs.ts';
import { jobSummary } from '../../../core/job/present-job.ts';
import { withCallLimit } from '../../../core/access/call-admission.ts';
import { digestRequestSchema, planDigest } from '../../../core/policies/digest/create.ts';
import { monitorRequestSchema, planMonitor } from '../../../core/policies/monitor/create.ts';
import { jobSummarySchema } from '../../../core/responses/jobs.ts';
import * as digestExamples from '../../openapi/examples/digest.ts';
import { monitorStream } from '../../openapi/examples/events.ts';
import * as examples from '../../openapi/examples/jobs.ts';
import { defineEndpoint, type Call } from '../endpoint.ts';
import { eventsResponse, jsonResponse } from '../endpoint-response.ts';
import { z } from 'zod';
import type { Job, JobPolicy } from '../../../core/records/job.ts';
import type { JobPlan, PlanDeps } from '../../../core/policies/job/policy.ts';
import { withKind } from '../../../core/records/job-kind.ts';
import { idempotencyKey } from '../../../core/requests/fields.ts';
import { describeIgnored } from '../../../core/requests/unknown-fields.ts';
import type { HttpDeps } from '../dependencies.ts';
import { respondWithNewJob } from '../sse/stream-job.ts';
import { wantsEvents } from '../sse/messages.ts';

const startHeaders = z.object({
  'Idempotency-Key': idempotencyKey
    .optional()
    .describe(
      'Within a day, the same key and body return the job of the first request; another body returns 422',
    ),
});

/** Part of the declaration that all starts have. */
const startDeclaration = {
  method: 'post',
  tag: 'jobs',
  scope: 'jobs',
  effect: 'starts',
  rateLimit: 'creations',
  // Includes 20 s for the probe of the stream.
  timeBudgetSeconds: 29,
} as const;

const startErrors = [
  'NOT_LIVESTREAM',
  'INVALID_URL',
  'STREAM_FETCH_FAILED',
  'MAX_JOBS_REACHED',
  'SERVICE_OVERLOADED',
  'JOB_NOT_FOUND',
] as const;

type StartRequest<Body> = Call & { headers: z.output<typeof startHeaders>; body: Body };

/** Creates a job. The response is an event stream if the caller accepts one and sets no webhook. */
async function startJob<Body extends JobRequest>(
  policy: JobPolicy,
  { headers, body, caller, key, unknown, context }: StartRequest<Body>,
  plan: (body: Body, deps: PlanDeps) => JobPlan,
  deps: HttpDeps,
) {
  const keyed = { key: headers['Idempotency-Key'], kind: policy, request: body };
  const createOnce = () =>
    createIdempotently(keyed, caller, deps, (idempotency) =>
      withCallLimit(caller, deps, () =>
        acceptJob(plan, body, caller, deps, idempotency, {
          keyHash: key.hash,
          ignored: describeIgnored(unknown),
        }),
      ),
    );
  if (!body.webhook_url && wantsEvents(context)) return respondWithNewJob(context, deps, createOnce);
  const job = await createOnce();
  return jobSummary(job, messageFor(job));
}

/** Describes the next step, then where the job differs from the request. */
function messageFor(job: Job): string {
  const { webhook_url: webhookUrl, notices } = job;
  const accepted = `${withKind(job, (_, { name }) => name)} accepted.`;
  const next = webhookUrl === null ? 'Poll GET /jobs/{job_id}.' : 'Events are sent to webhook_url.';
  return [accepted, next, ...notices].join(' ');
}

/** Endpoints that start monitors and digests. */

const resume = 'If the connection breaks, continue at `GET /jobs/{job_id}/events` with `Last-Event-ID`.';

const liveMonitorEndpoint = defineEndpoint(
  {
    ...startDeclaration,
    id: 'live_monitor',
    path: '/live-monitor',
    title: 'Start a monitor',
    description:
      'Starts a job that checks a condition at an interval and alerts when the condition is true. With `webhook_url`, events are delivered there; else with `Accept: text/event-stream`, they are the response; else poll the job.',
    tool: {
      description:
        'Starts a job that checks a condition at an interval and alerts when the condition is true. Read its events with job_events, and its images with job_picture; with webhook_url, they are also sent there.',
    },
    request: { headers: startHeaders, body: monitorRequestSchema },
    response: eventsResponse(jobSummarySchema, {
      description: 'The job was accepted',
      asEvents: {
        description: `Events \`started\`, \`progress\`, \`triggered\`, \`stopped\` and \`error\`; the last two end the stream. Each \`data:\` line is one StreamedEvent, each \`id:\` its sequence. ${resume}`,
        example: monitorStream,
      },
    }),
    errors: ['INVALID_INPUT_MODE', ...startErrors],
    examples: {
      body: {
        polling: { stream_url: examples.streamUrl, condition: examples.condition, input_mode: 'frames' },
        webhook: {
          stream_url: examples.streamUrl,
          condition: examples.condition,
          webhook_url: examples.webhookUrl,
          max_triggers: null,
          trigger_cooldown_seconds: 60,
        },
      },
      response: { polling: examples.acceptedJob, webhook: examples.acceptedWebhookJob },
    },
  },
  (request, deps) => startJob('monitor', request, planMonitor, deps),
);

const liveDigestEndpoint = defineEndpoint(
  {
    ...startDeclaration,
    id: 'live_digest',
    path: '/live-digest',
    title: 'Start a digest',
    description:
      'Starts a job that samples a stream and summarizes each window of time. With `webhook_url`, events are delivered there; else with `Accept: text/event-stream`, they are the response; else poll the job.',
    tool: {
      description:
        'Starts a job that samples a stream and summarizes each window of time. Read its events with job_events, and its images with job_picture; with webhook_url, they are also sent there.',
    },
    request: { headers: startHeaders, body: digestRequestSchema },
    response: eventsResponse(jobSummarySchema, {
      description: 'The job was accepted',
      asEvents: {
        description: `Events \`started\`, \`progress\`, \`summary\`, \`stopped\` and \`error\`; the last two end the stream. Each \`data:\` line is one StreamedEvent, each \`id:\` its sequence. ${resume}`,
        example: digestExamples.digestStream,
      },
    }),
    errors: startErrors,
    examples: {
      body: { polling: digestExamples.digestRequest, webhook: digestExamples.digestWebhookRequest },
      response: { polling: digestExamples.acceptedDigest },
    },
  },
  (request, deps) => startJob('digest', request, planDigest, deps),
);

const runAgainEndpoint = defineEndpoint(
  {
    ...startDeclaration,
    id: 'run_again',
    path: '/jobs/{job_id}/run-again',
    title: 'Run a job again',
    description:
      'Starts a job with the stream, the settings, the webhook and the labels of this one, which may have ended.',
    request: { parameters: jobPathSchema, headers: startHeaders },
    response: jsonResponse(jobSummarySchema, { description: 'The new job' }),
    errors: ['INVALID_INPUT_MODE', ...startErrors],
    examples: { parameters: { job_id: examples.jobId }, response: { polling: examples.acceptedJob } },
  },
  async ({ parameters, headers, caller, key }, deps) => {
    const keyed = { key: headers['Idempotency-Key'], kind: 'run-again', request: parameters } as const;
    const job = await createIdempotently(keyed, caller, deps, (idempotency) =>
      withCallLimit(caller, deps, () =>
        runAgain(parameters.job_id, caller, deps, idempotency, { keyHash: key.hash }),
      ),
    );
    return jobSummary(job, messageFor(job));
  },
);

export const startEndpoints = [liveMonitorEndpoint, liveDigestEndpoint, runAgainEndpoint];
