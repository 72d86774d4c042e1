import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { flag, integer, text } from './fields.ts';
import { instant } from './watch-queries.ts';
import { conditions } from './watches.ts';

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
