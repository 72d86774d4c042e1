import type { Context } from 'hono';
import { z } from 'zod';
import { readEvidence } from '../../core/delivery/evidence-link.ts';
import { WatchpostError } from '../../core/errors.ts';
import { fileResponse } from './byte-range.ts';
import type { HttpDeps } from './dependencies.ts';

const linkSchema = z.object({
  watch_id: z.uuid(),
  sequence: z
    .string()
    .regex(/^[1-9]\d{0,9}\.(?:jpg|mp4)$/)
    .transform((name) => Number.parseInt(name, 10)),
  expires: z
    .string()
    .regex(/^\d{1,11}$/)
    .transform(Number),
  signature: z.string().regex(/^[\w-]{43}$/),
  boxes: z.literal('true').optional(),
});

/**
 * Handles `GET /evidence/{watch_id}/{sequence}.jpg`, or `.mp4` for a clip: the evidence of an event, by its signed link
 * instead of a key.
 */
export function evidence(deps: Pick<HttpDeps, 'runs' | 'media' | 'now' | 'evidenceLinks' | 'drawBoxes'>) {
  return async (context: Context): Promise<Response> => {
    const link = linkSchema.safeParse({ ...context.req.param(), ...context.req.query() });
    if (!link.success)
      throw new WatchpostError(
        'NOT_FOUND',
        'No such picture',
        'Use the whole link of the event, with expires and signature.',
      );
    const file = await readEvidence(link.data, { ...deps, signer: deps.evidenceLinks.signer });
    return fileResponse(context, file, {
      'Content-Type': context.req.path.endsWith('.mp4') ? 'video/mp4' : 'image/jpeg',
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': "default-src 'none'",
    });
  };
}
