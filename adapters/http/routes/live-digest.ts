import { Hono } from 'hono';
import { createDigest } from '../../../core/operations/create-digest.ts';
import { createIdempotently } from '../../../core/operations/create-idempotently.ts';
import { jobSummary } from '../../../core/operations/present-job.ts';
import { digestRequestSchema } from '../../../core/requests/live-digest.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import { respondWithNewJob } from '../sse/stream-job.ts';
import { wantsEvents } from '../sse/wants-events.ts';
import { valid } from '../valid.ts';

/** `POST /live-digest` in SSE, webhook and polling mode, decided in this order (interface section 4.3). */
export function liveDigestRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>().post('/live-digest', valid('json', digestRequestSchema), async (context) => {
    const request = context.req.valid('json');
    const { caller } = context.get('key');
    const keyed = { key: idempotencyKeyOf(context), jobType: 'live-digest', request } as const;
    const create = () =>
      createIdempotently(keyed, caller, c, (idempotency) => createDigest(request, caller, c, idempotency));
    if (wantsEvents(context) && !request.webhook_url) return respondWithNewJob(context, c, create);
    const job = await create();
    return context.json(jobSummary(job, messageFor(job.webhook_url)));
  });
}

function messageFor(webhookUrl: string | null): string {
  return webhookUrl === null
    ? 'Digest accepted. Poll GET /jobs/{job_id}.'
    : 'Digest accepted. Events are sent to webhook_url.';
}
