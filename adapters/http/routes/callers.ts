import { Hono } from 'hono';
import { addCaller, listCallers, presentCaller } from '../../../core/operations/callers.ts';
import { callerListQuerySchema, callerRequestSchema } from '../../../core/requests/keys.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { requireScope } from '../require-scope.ts';
import { valid } from '../valid.ts';

/** The tenants of the service (design section 11). */
export function callerRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>()
    .get('/callers', requireScope('admin'), valid('query', callerListQuerySchema), async (context) => {
      const { after, limit } = context.req.valid('query');
      return context.json(await listCallers(after, limit, c));
    })
    .post('/callers', requireScope('admin'), valid('json', callerRequestSchema), async (context) =>
      context.json(presentCaller(await addCaller(context.req.valid('json'), c))),
    );
}
