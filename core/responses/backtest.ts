import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { count, timestamp } from './fields.ts';

const usd = z.number().nonnegative().nullable().describe('By list price; null: unknown');

const alertSchema = z.object({
  condition_id: z.string(),
  condition: z.string(),
  opened_at: timestamp,
  closed_at: timestamp.nullable(),
  explanation: z.string(),
  picture_url: z.string().nullable(),
  moments: z
    .array(z.object({ moment_id: z.string(), at: timestamp, picture_url: z.string().nullable() }))
    .describe('The first 12 in which it holds'),
});
apiNames.add(alertSchema, { id: 'BacktestAlert' });

/** Response of `POST /watches/{watch_id}/backtest`. */
export const backtestResponseSchema = z.object({
  sentence: z.string().describe('The time that was played, and the gaps in it'),
  alerts: z
    .array(alertSchema)
    .describe('Alerts since the response before that ended, or are open at the end'),
  open: z.array(alertSchema).describe('Alerts that are open where this response ends'),
  possible: z.array(alertSchema).describe('Openings that lacked only a confirming picture'),
  next_cursor: z.string().nullable().describe('Send it as cursor to continue; null at the end'),
  stopped: z
    .enum(['time', 'calls', 'model'])
    .nullable()
    .describe('Why it ends early: 25 s are over, max_calls used up, or the model failed'),
  from: timestamp,
  to: timestamp,
  played_to: timestamp.describe('End of what was played'),
  moments: count.describe('Moments that were played'),
  without_picture: count.describe('Those that need a verdict and have no picture'),
  not_judged: count.describe('Verdicts that the model could not give'),
  model_calls: count,
  cost_usd: usd,
  estimate: z
    .object({
      moments: count,
      model_calls: count,
      cost_usd: usd,
      exact: z.boolean().describe('False if it is extrapolated'),
    })
    .describe('Needs of the whole backtest'),
});
apiNames.add(backtestResponseSchema, { id: 'BacktestResult' });
