import { Hono, type Context } from 'hono';
import type { Job } from '../../../core/job.ts';
import { createDigest } from '../../../core/operations/create-digest.ts';
import { createIdempotently } from '../../../core/operations/create-idempotently.ts';
import { createMonitor } from '../../../core/operations/create-monitor.ts';
import { jobSummary } from '../../../core/operations/present-job.ts';
import { withinLimits } from '../../../core/operations/within-limits.ts';
import type { IdempotencyRecord } from '../../../core/ports/job-store.ts';
import { digestRequestSchema } from '../../../core/requests/live-digest.ts';
import { monitorRequestSchema } from '../../../core/requests/live-monitor.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import { respondWithNewJob } from '../sse/stream-job.ts';
import { wantsEvents } from '../sse/wants-events.ts';
import { valid } from '../valid.ts';

/** `POST /live-monitor` and `POST /live-digest` (interface sections 4.2 and 4.3). */
export function startJobRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>()
    .post('/live-monitor', valid('json', monitorRequestSchema), async (context) => {
      const request = context.req.valid('json');
      return startJob(context, c, 'live-monitor', request, createMonitor);
    })
    .post('/live-digest', valid('json', digestRequestSchema), async (context) => {
      const request = context.req.valid('json');
      return startJob(context, c, 'live-digest', request, createDigest);
    });
}

type Create<Request> = (
  request: Request,
  caller: string,
  c: HttpCollaborators,
  idempotency?: IdempotencyRecord,
) => Promise<Job>;

/** In webhook, SSE and polling mode, decided in this order. */
async function startJob<Request extends { webhook_url?: string | null | undefined }>(
  context: Context<AuthEnv>,
  c: HttpCollaborators,
  jobType: Job['job_type'],
  request: Request,
  create: Create<Request>,
): Promise<Response> {
  const { caller } = context.get('key');
  const keyed = { key: idempotencyKeyOf(context), jobType, request };
  const createOnce = () =>
    createIdempotently(keyed, caller, c, (idempotency) =>
      withinLimits(caller, c, () => create(request, caller, c, idempotency)),
    );
  if (!request.webhook_url && wantsEvents(context)) return respondWithNewJob(context, c, createOnce);
  const job = await createOnce();
  return context.json(jobSummary(job, messageFor(job)));
}

function messageFor({ job_type: jobType, webhook_url: webhookUrl }: Job): string {
  const accepted = jobType === 'live-monitor' ? 'Monitor accepted.' : 'Digest accepted.';
  return webhookUrl === null
    ? `${accepted} Poll GET /jobs/{job_id}.`
    : `${accepted} Events are sent to webhook_url.`;
}
