import { Hono } from 'hono';
import { analyzeFrame } from '../../../core/operations/analyze-frame.ts';
import { withinLimits } from '../../../core/operations/within-limits.ts';
import { analyzeFrameRequestSchema } from '../../../core/requests/analyze-frame.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { latencyMs } from '../latency.ts';
import { valid } from '../valid.ts';

/** `POST /analyze-frame` (interface sections 2.6 and 4.5). */
export function analyzeFrameRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>().post(
    '/analyze-frame',
    valid('json', analyzeFrameRequestSchema),
    async (context) => {
      const began = c.now();
      const { frame_b64: frame, question, include_frame: includeFrame } = context.req.valid('json');
      const { answer, triggered } = await withinLimits(context.get('key').caller, c, () =>
        analyzeFrame(frame, question, c),
      );
      return context.json({
        answer,
        triggered,
        latency_ms: latencyMs(began, c.now()),
        frame_b64: includeFrame ? frame : null,
      });
    },
  );
}
