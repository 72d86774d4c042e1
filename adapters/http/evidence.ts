import type { Context } from 'hono';
import { z } from 'zod';
import { readEvidence } from '../../core/delivery/evidence-link.ts';
import { WatchpostError } from '../../core/errors.ts';
import type { HttpDeps } from './dependencies.ts';

const linkSchema = z.object({
  watch_id: z.uuid(),
  sequence: z
    .string()
    .regex(/^[1-9]\d{0,9}\.jpg$/)
    .transform((name) => Number.parseInt(name, 10)),
  expires: z
    .string()
    .regex(/^\d{1,11}$/)
    .transform(Number),
  signature: z.string().regex(/^[\w-]{43}$/),
  boxes: z.literal('true').optional(),
});

/** Handles `GET /evidence/{watch_id}/{sequence}.jpg`: the evidence of an event, by its signed link instead of a key. */
export function evidence(deps: Pick<HttpDeps, 'runs' | 'media' | 'now' | 'evidenceLinks' | 'drawBoxes'>) {
  return async (context: Context): Promise<Response> => {
    const link = linkSchema.safeParse({ ...context.req.param(), ...context.req.query() });
    if (!link.success)
      throw new WatchpostError(
        'NOT_FOUND',
        'No such picture',
        'Use the whole link of the event, with expires and signature.',
      );
    const frame = await readEvidence(link.data, { ...deps, signer: deps.evidenceLinks.signer });
    return context.body(new Uint8Array(frame), 200, {
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': "default-src 'none'",
    });
  };
}
