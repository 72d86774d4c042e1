import { z } from 'zod';
import { readMomentId } from '../records/moment.ts';
import { apiNames } from '../api-names.ts';
import { flag, integer, jobId, text } from './fields.ts';
import { instant } from './watch-queries.ts';

export const momentPathSchema = z.object({ moment_id: text(1, 80) });

/** Body of `POST /moments/{moment_id}/review`. */
export const momentReviewRequestSchema = z.object({
  condition_id: text(1, 40).describe('Condition of the watch'),
  holds: flag.describe('True if it holds in the picture'),
});
apiNames.add(momentReviewRequestSchema, { id: 'MomentReviewRequest' });

/** Verdicts of the filter, as a moment has them. */
const verdicts = { held: true, not_held: false, not_judged: null } as const;

export const momentListQuerySchema = z.object({
  watch_id: jobId.optional().describe('Default: all of your watches'),
  from: instant.describe('Start; default: all that is remembered'),
  to: instant.describe('End; default: now'),
  condition_id: text(1, 40).optional().describe('Only moments with a verdict on this condition'),
  verdict: z
    .enum(['held', 'not_held', 'not_judged'])
    .optional()
    .describe('Only moments with this verdict, of the condition if one is given'),
  reviewed: flag.default(false).describe('Only moments that were reviewed'),
  after: z
    .string()
    .refine((value) => readMomentPosition(value) !== undefined, 'after must be the next_after of a page')
    .optional()
    .describe('next_after of the previous page, whose filters it continues'),
  limit: integer(z.int().min(1).max(100)).default(50),
});

/** Returns the value of `triggered` that a filter asks for. */
export function readVerdict(verdict: keyof typeof verdicts | undefined): boolean | null | undefined {
  return verdict && verdicts[verdict];
}

/**
 * Parses the `after` of a page of moments: the id of the last one, which has its time. Returns undefined if it is
 * malformed.
 */
export function readMomentPosition(after: string) {
  const name = readMomentId(after);
  if (!name || Number.isNaN(name.at.getTime()) || Number.isNaN(name.captureAt.getTime())) return undefined;
  return { at: name.at.toISOString(), moment_id: after };
}
