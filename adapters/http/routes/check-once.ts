import { Hono } from 'hono';
import { checkOnce } from '../../../core/operations/check-once.ts';
import { withinLimits } from '../../../core/operations/within-limits.ts';
import { checkOnceRequestSchema } from '../../../core/requests/check-once.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { latencyMs } from '../latency.ts';
import { tellModelUse } from '../model-use.ts';
import { valid } from '../valid.ts';

/** `POST /check-once` (interface section 4.1). */
export function checkOnceRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>().post('/check-once', valid('json', checkOnceRequestSchema), async (context) => {
    const began = c.now();
    const request = context.req.valid('json');
    const check = {
      url: request.stream_url,
      condition: request.condition,
      mode: request.input_mode,
      clipSeconds: request.clip_duration_seconds,
    };
    const { caller } = context.get('key');
    const { verdict, capture } = await withinLimits(caller, c, () => checkOnce(check, caller, c));
    tellModelUse(context, c.vision, verdict.tokens);
    return context.json({
      triggered: verdict.triggered,
      explanation: verdict.explanation,
      latency_ms: latencyMs(began, c.now()),
      ...(request.include_frame ? { frame_b64: Buffer.from(capture.frame).toString('base64') } : {}),
    });
  });
}
