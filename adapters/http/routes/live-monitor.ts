import { Hono } from 'hono';
import { createMonitor } from '../../../core/operations/create-monitor.ts';
import { jobSummary } from '../../../core/operations/present-job.ts';
import { monitorRequestSchema } from '../../../core/requests/live-monitor.ts';
import type { HttpCollaborators } from '../app.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { jsonBody } from '../request-body.ts';
import { valid } from '../valid.ts';

/** `POST /live-monitor` in polling and webhook mode (interface section 4.2). */
export function liveMonitorRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>().post(
    '/live-monitor',
    jsonBody(),
    valid('json', monitorRequestSchema),
    async (context) => {
      const job = await createMonitor(context.req.valid('json'), context.get('key').caller, c);
      return context.json(jobSummary(job, messageFor(job.webhook_url)));
    },
  );
}

function messageFor(webhookUrl: string | null): string {
  return webhookUrl === null
    ? 'Monitor accepted. Poll GET /jobs/{job_id}.'
    : 'Monitor accepted. Events are sent to webhook_url.';
}
