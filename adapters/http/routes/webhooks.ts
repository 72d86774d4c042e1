import { Hono } from 'hono';
import { readDeliveries, resendDelivery } from '../../../core/operations/deliveries.ts';
import { testWebhook } from '../../../core/operations/test-webhook.ts';
import { readWebhookSecret, rotateWebhookSecret } from '../../../core/operations/webhook-secret.ts';
import { withinLimits } from '../../../core/operations/within-limits.ts';
import {
  deliveryListQuerySchema,
  deliveryPathSchema,
  webhookTestRequestSchema,
} from '../../../core/requests/deliveries.ts';
import { jobPathSchema } from '../../../core/requests/jobs.ts';
import { secretRotationQuerySchema } from '../../../core/requests/keys.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { noStore } from '../no-store.ts';
import { valid } from '../valid.ts';

/** What became of webhooks, what they are signed with, and sending on request (design section 9). */
export function webhookRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>()
    .get(
      '/jobs/:job_id/deliveries',
      valid('param', jobPathSchema),
      valid('query', deliveryListQuerySchema),
      async (context) => {
        const { job_id: jobId } = context.req.valid('param');
        const { caller } = context.get('key');
        return context.json(await readDeliveries(jobId, caller, context.req.valid('query'), c));
      },
    )
    .post(
      '/jobs/:job_id/deliveries/:sequence/resend',
      valid('param', deliveryPathSchema),
      async (context) => {
        const { job_id: jobId, sequence } = context.req.valid('param');
        const { caller } = context.get('key');
        return context.json(await withinLimits(caller, c, () => resendDelivery(jobId, sequence, caller, c)));
      },
    )
    .post('/webhook-test', valid('json', webhookTestRequestSchema), async (context) => {
      const { caller } = context.get('key');
      const { webhook_url: url } = context.req.valid('json');
      return context.json(await withinLimits(caller, c, () => testWebhook(url, caller, c)));
    })
    .get('/webhook-secret', noStore(), async (context) =>
      context.json(await readWebhookSecret(context.get('key').caller, c)),
    )
    .post('/webhook-secret/rotate', noStore(), valid('query', secretRotationQuerySchema), async (context) => {
      const { grace_seconds: graceSeconds } = context.req.valid('query');
      return context.json(await rotateWebhookSecret(context.get('key').caller, graceSeconds, c));
    });
}
