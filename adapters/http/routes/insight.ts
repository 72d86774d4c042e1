import { Hono } from 'hono';
import { readMetrics } from '../../../core/operations/metrics.ts';
import { readLog } from '../../../core/operations/read-log.ts';
import { logQuerySchema } from '../../../core/requests/log.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { internalOnly } from '../require-scope.ts';
import { valid } from '../valid.ts';

/** What operators read (interface sections 4.9 and 4.10). */
export function insightRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>()
    .get('/metrics', internalOnly(), async (context) => context.json(await readMetrics(c)))
    .get('/alarms', internalOnly(), async (context) =>
      context.json({ alarms: c.alarms ? await c.alarms.list() : null }),
    )
    .get('/logs', internalOnly(), valid('query', logQuerySchema), async (context) =>
      context.json(await readLog(context.req.valid('query'), c)),
    );
}
