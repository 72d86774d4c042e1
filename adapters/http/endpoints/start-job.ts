import { z } from 'zod';
import type { Job, JobPolicy } from '../../../core/records/job.ts';
import { acceptJob } from '../../../core/job/accept-job.ts';
import type { JobRequest } from '../../../core/job/accept-job.ts';
import type { JobPlan, PlanDeps } from '../../../core/policies/job/plan.ts';
import { createIdempotently } from '../../../core/job/create-idempotently.ts';
import { jobSummary } from '../../../core/job/present-job.ts';
import { withCallLimit } from '../../../core/access/with-call-limit.ts';
import { withKind } from '../../../core/records/job-kind.ts';
import { idempotencyKey } from '../../../core/requests/fields.ts';
import { describeIgnored } from '../../../core/requests/unknown-fields.ts';
import type { HttpDeps } from '../dependencies.ts';
import type { Call } from '../endpoint.ts';
import { respondWithNewJob } from '../sse/stream-job.ts';
import { wantsEvents } from '../sse/wants-events.ts';

/** Parts of the endpoints that start jobs. */

export const startHeaders = z.object({
  'Idempotency-Key': idempotencyKey
    .optional()
    .describe(
      'Within a day, the same key and body return the job of the first request; another body returns 422',
    ),
});

/** Part of the declaration that all starts have. */
export const startDeclaration = {
  method: 'post',
  tag: 'jobs',
  scope: 'jobs',
  effect: 'starts',
  rateLimit: 'creations',
  // Includes 20 s for the probe of the stream.
  timeBudgetSeconds: 29,
} as const;

type StartRequest<Body> = Call & { headers: z.output<typeof startHeaders>; body: Body };

/** Creates a job. The response is an event stream if the caller accepts one and sets no webhook. */
export async function startJob<Body extends JobRequest>(
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
export function messageFor(job: Job): string {
  const { webhook_url: webhookUrl, notices } = job;
  const accepted = `${withKind(job, (_, { name }) => name)} accepted.`;
  const next = webhookUrl === null ? 'Poll GET /jobs/{job_id}.' : 'Events are sent to webhook_url.';
  return [accepted, next, ...notices].join(' ');
}
