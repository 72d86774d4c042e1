import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { adviceCodes } from '../advice/advise.ts';
import { inputModeSchema } from '../records/capture.ts';
import { scheduleSchema } from '../records/watch.ts';

/** Doubts about a condition, each with a remedy. */
const findingSchema = z.object({ code: z.enum(adviceCodes), message: z.string() });
apiNames.add(findingSchema, { id: 'Finding' });
export const findingsSchema = z
  .array(findingSchema)
  .describe('Doubts about the condition, each with a remedy; empty without doubts');

const forecastSchema = z.object({
  model_calls_per_day: z
    .int()
    .describe('Calls of the interval, if the pre-filter skips nothing; frames and dollars are theirs'),
  max_model_calls_per_day: z
    .int()
    .describe(
      'Upper bound: a check every second, as confirming ones are with the shortest confirm_seconds; half with the default of 2 s',
    ),
  frames_per_day: z.int().describe('Frames that the model gets, besides clips'),
  usd_per_day: z
    .number()
    .nullable()
    .describe('US dollars by list prices; 0 for a local model, null if the price is not known'),
  usd_per_month: z.number().nullable(),
  max_usd_per_day: z.number().nullable().describe('Price of max_model_calls_per_day'),
  shortest_visit_seconds: z
    .number()
    .describe('Duration from which a watch is sure to see a visit, if the stream has a key frame every 2 s'),
});

apiNames.add(forecastSchema, { id: 'Forecast' });

/** Response of `POST /conditions/advise`. */
export const adviceResponseSchema = z.object({
  findings: findingsSchema,
  suggestion: z.object({
    conditions: z
      .array(z.string())
      .nullable()
      .describe('Clearer wording, or the parts of several conditions in one; null: keep the wording'),
    interval_seconds: z.int().describe('Seconds between checks'),
    input_mode: inputModeSchema,
    checks_to_open: z
      .int()
      .describe('Verdicts of checks_considered that must hold to open an alert of a watch'),
    checks_considered: z.int(),
    open_after_seconds: z
      .int()
      .describe(
        'Seconds for which the condition of a watch must have held, if the text names a time; else 0',
      ),
    active: scheduleSchema.shape.active
      .nullable()
      .describe('Spans for the schedule of a watch, if the condition names times; add the time zone'),
  }),
  forecast: forecastSchema
    .and(
      z.object({
        model: z.string(),
        with_look_back: forecastSchema.describe(
          'The same with look_back, the default of watches: up to four frames a check',
        ),
      }),
    )
    .describe('Cost of one stream with this condition, all day'),
});
apiNames.add(adviceResponseSchema, { id: 'Advice' });
