import { Hono } from 'hono';
import { validateStream } from '../../../core/operations/validate-stream.ts';
import { withinLimits } from '../../../core/operations/within-limits.ts';
import { validateStreamRequestSchema } from '../../../core/requests/validate-stream.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { valid } from '../valid.ts';

/** `POST /streams/validate` (interface sections 2.7 and 4.4). */
export function streamRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>().post(
    '/streams/validate',
    valid('json', validateStreamRequestSchema),
    async (context) => {
      const { stream_url: url, include_frame: includeFrame } = context.req.valid('json');
      const { caller } = context.get('key');
      return context.json(await withinLimits(caller, c, () => validateStream(url, includeFrame, caller, c)));
    },
  );
}
