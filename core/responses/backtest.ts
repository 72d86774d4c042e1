import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { count, timestamp } from './fields.ts';

const usd = z.number().nonnegative().nullable().describe('By the list price; null if it is unknown');

const alertSchema = z.object({
  condition_id: z.string(),
  condition: z.string(),
  opened_at: timestamp,
  closed_at: timestamp.nullable().describe('null if it is open at the end of the span'),
  explanation: z.string(),
  picture_url: z.string().nullable().describe('Picture that opened it; requires the API key'),
  moments: z
    .array(z.object({ moment_id: z.string(), at: timestamp, picture_url: z.string().nullable() }))
    .describe('Moments in which the condition holds, oldest first; at most the first 12'),
});
apiNames.add(alertSchema, { id: 'BacktestAlert' });

/** Response of `POST /watches/{watch_id}/backtest`. */
export const backtestResponseSchema = z.object({
  sentence: z.string().describe('Sentence for people: what was played, and what nobody saw'),
  alerts: z
    .array(alertSchema)
    .describe('Alerts that have ended, or are open at the end of the span, since the response before'),
  open: z.array(alertSchema).describe('Alerts that are open where this response ends'),
  possible: z
    .array(alertSchema)
    .describe('Openings that lacked only a confirming picture, which nobody took'),
  next_cursor: z.string().nullable().describe('Send it as cursor to continue; null at the end'),
  stopped: z
    .enum(['time', 'calls', 'model'])
    .nullable()
    .describe('Why it is not at the end: 25 s are over, max_calls are used up, or the model failed'),
  from: timestamp,
  to: timestamp,
  played_to: timestamp.describe('End of what was played'),
  moments: count.describe('Moments that were played'),
  without_picture: count.describe('Moments of them that need a verdict and have no picture'),
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
    .describe('What the whole backtest needs'),
});
apiNames.add(backtestResponseSchema, { id: 'BacktestResult' });
