import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { flag, integer, jobId, text } from './fields.ts';
import { instant } from './watch-queries.ts';
import { conditions } from './watches.ts';

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
