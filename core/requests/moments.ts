import { z } from 'zod';
import { readMomentId } from '../records/moment.ts';
import { apiNames } from '../api-names.ts';
import { flag, integer, jobId, text } from './fields.ts';
import { instant } from './watch-queries.ts';
import { conditions } from './watches.ts';

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

const maxWatches = 100;

export const momentSearchRequestSchema = z.object({
  query: text(1, 500).describe('Description of the pictures to find, in plain words: "a white delivery van"'),
  watch_ids: z
    .preprocess(
      (value) => (Array.isArray(value) ? value.slice(0, maxWatches + 1) : value),
      z.array(jobId).min(1).max(maxWatches),
    )
    .optional()
    .describe('Default: all your watches'),
  from: instant.describe('Default: all that is remembered'),
  to: instant.describe('Default: now'),
  limit: integer(z.int().min(1).max(100)).default(20).describe('Maximum results of one response'),
  max_calls: integer(z.int().min(0).max(1000))
    .default(20)
    .describe('Maximum model calls of the search, with those of earlier responses; 0 only estimates'),
  thorough: flag
    .default(false)
    .describe(
      'True to check a picture of every visit, whatever its words: see `thorough` of a response first',
    ),
  cursor: text(1, 40_000).optional().describe('next_cursor of the response before, with an unchanged body'),
});
apiNames.add(momentSearchRequestSchema, { id: 'MomentSearchRequest' });

export const askRequestSchema = momentSearchRequestSchema
  .pick({ watch_ids: true, from: true, to: true })
  .extend({ question: text(1, 500).describe('"When was the last delivery, and did anybody take it?"') });
apiNames.add(askRequestSchema, { id: 'AskRequest' });

/** Body of `POST /watches/{watch_id}/backtest`. */
export const backtestRequestSchema = z.object({
  conditions: conditions.optional().describe('Conditions to try; default: those of the watch'),
  from: instant.describe('Default: all that is remembered'),
  to: instant.describe('Default: now'),
  max_calls: integer(z.int().min(0).max(100_000))
    .default(1000)
    .describe('Maximum model calls of the backtest, with those of earlier responses'),
  estimate: flag.default(false).describe('True to return only what it would cost'),
  cursor: text(1, 200_000).optional().describe('next_cursor of the response before, with an unchanged body'),
});
apiNames.add(backtestRequestSchema, { id: 'BacktestRequest' });
