import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { momentSchema, momentVerdictSchema } from '../records/moment.ts';
import { spanReasonSchema } from '../records/sight.ts';
import { count, jobId, timestamp } from './fields.ts';

const seconds = z.number().nonnegative();
const usd = z.number().nonnegative().nullable().describe('By list price; null: unknown');

export const momentResponseSchema = momentSchema.omit({ caller: true, frame_key: true, still: true }).extend({
  verdicts: z.array(momentVerdictSchema.omit({ asked: true })),
  picture_url: z.string().nullable().describe('Judged picture; requires the API key. null: gone'),
});
apiNames.add(momentResponseSchema, { id: 'Moment' });

const foundSchema = z.object({
  moment: momentResponseSchema,
  watch_name: z.string(),
  from: timestamp.describe('First moment of the visit'),
  to: timestamp.describe('Last moment of the visit'),
  open_begin: z.boolean().describe('True if nobody looked before it'),
  open_end: z.boolean().describe('True if nobody looked after it'),
  matched: z.boolean().nullable().describe('True if the picture shows it; null if only words do'),
});

export const searchResponseSchema = z.object({
  sentence: z.string().describe('The result in words, and the gaps of the span'),
  results: z.array(foundSchema).describe('A moment of each visit, best first; newest first if thorough'),
  next_cursor: z.string().nullable().describe('Send it as cursor to continue; null at the end'),
  limit_reached: z.boolean().describe('True if max_calls is used up: raise it to continue'),
  from: timestamp,
  to: timestamp,
  words: z.array(z.string()).describe('Words that the model has added'),
  moments: count.describe('Moments of the span'),
  matched_in_words: count,
  looked_at: count.describe('Pictures that the model has checked'),
  not_judged: count.describe('Pictures of which the model cannot tell'),
  without_picture: count,
  model_calls: count,
  cost_usd: usd,
  thorough: z
    .object({
      visits: count,
      exact: z.boolean().describe('False if the visits are extrapolated'),
      model_calls: count,
      cost_usd: usd,
    })
    .describe('Estimate of a thorough search'),
  sure_from_seconds: seconds.nullable().describe('Visits of this duration and more are sure to be seen'),
  not_seen: z
    .array(
      z.object({
        watch_id: jobId,
        from: timestamp,
        to: timestamp,
        reason: z.enum([...spanReasonSchema.options, 'paused']),
      }),
    )
    .describe('Times that nobody saw; at most the 500 longest'),
});
apiNames.add(searchResponseSchema, { id: 'MomentSearchResult' });

/** Summary of what was seen of some watches in a span. */
export const watchedSchema = z.object({
  from: timestamp,
  to: timestamp,
  judged_seconds: seconds.describe('The model judged what moved'),
  quiet_seconds: seconds.describe('Watched, and nothing moved'),
  between_seconds: seconds.describe('Between two pictures: the stream was there, and nobody looked'),
  not_seen_seconds: seconds.describe('In gaps'),
  gaps: z
    .array(z.object({ watch_id: z.uuid(), from: timestamp, to: timestamp, reason: spanReasonSchema }))
    .describe('Times that nobody saw, in order; at most the longest 500'),
  coverage: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of the active time with sight; null without active time'),
  sure_from_seconds: seconds.nullable().describe('Visits of this duration and more are sure to be seen'),
});

export const momentListResponseSchema = z.object({
  moments: z.array(momentResponseSchema).describe('Newest first'),
  next_after: z
    .string()
    .nullable()
    .describe('Value of after for the next page; null on the last. A page with filters can be short'),
  watched: watchedSchema
    .nullable()
    .describe(
      'Division of the span by what was seen. The four classes are all of the time that the watches were to watch. null on pages with after',
    ),
  pictures_kept_from: timestamp
    .nullable()
    .describe('Time from which on no picture had to make room; null if none had to'),
});
apiNames.add(momentListResponseSchema, { id: 'MomentList' });

export const askResponseSchema = z.object({
  answered: z.boolean().describe('False if the memory does not answer the question'),
  answer: z.string().describe('The statements, or the reason without any'),
  statements: z.array(
    z.object({
      text: z.string(),
      moments: z.array(momentResponseSchema).describe('Moments that show it'),
    }),
  ),
  next_to: timestamp
    .nullable()
    .describe('Value of to that lists the visits before those of the statements; null if it has all'),
  sentence: z.string().describe('The pictures that were searched, and the gaps of the span'),
  from: timestamp,
  to: timestamp,
  pictures: count.describe('Pictures that the model was shown'),
  ...searchResponseSchema.pick({ model_calls: true, cost_usd: true }).shape,
});
apiNames.add(askResponseSchema, { id: 'AskResult' });

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
