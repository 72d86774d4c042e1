import { Hono } from 'hono';
import { createIdempotently } from '../../../core/operations/create-idempotently.ts';
import { createMonitor } from '../../../core/operations/create-monitor.ts';
import { jobSummary } from '../../../core/operations/present-job.ts';
import { monitorRequestSchema } from '../../../core/requests/live-monitor.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import { respondWithNewJob } from '../sse/stream-job.ts';
import { wantsEvents } from '../sse/wants-events.ts';
import { valid } from '../valid.ts';

/** `POST /live-monitor` in webhook, SSE and polling mode, decided in this order (interface section 4.2). */
export function liveMonitorRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>().post('/live-monitor', valid('json', monitorRequestSchema), async (context) => {
    const request = context.req.valid('json');
    const { caller } = context.get('key');
    const keyed = { key: idempotencyKeyOf(context), jobType: 'live-monitor', request } as const;
    const create = () =>
      createIdempotently(keyed, caller, c, (idempotency) => createMonitor(request, caller, c, idempotency));
    if (!request.webhook_url && wantsEvents(context)) return respondWithNewJob(context, c, create);
    const job = await create();
    return context.json(jobSummary(job, messageFor(job.webhook_url)));
  });
}

function messageFor(webhookUrl: string | null): string {
  return webhookUrl === null
    ? 'Monitor accepted. Poll GET /jobs/{job_id}.'
    : 'Monitor accepted. Events are sent to webhook_url.';
}
