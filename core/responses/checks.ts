import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { adviceCodes } from '../advice/advise.ts';
import { inputModeSchema } from '../records/capture.ts';
import { scheduleSchema } from '../records/watch.ts';
import { platforms } from '../records/platform.ts';
import { jpegBase64 } from './fields.ts';

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

const latency = z.int().nonnegative().describe('Duration of the request in milliseconds');

const judged = z.literal(false).optional();

export const checkOnceResponseSchema = z.object({
  triggered: z.boolean().describe('True if the condition holds'),
  judged: judged.describe(
    'False if the model could not judge the condition, see explanation; absent otherwise',
  ),
  explanation: z.string().describe('Reason, by what is visible'),
  latency_ms: latency,
  frame_b64: jpegBase64.optional(),
});
apiNames.add(checkOnceResponseSchema, { id: 'CheckOnceResponse' });

export const analyzeFrameResponseSchema = z.object({
  answer: z.string(),
  triggered: z.boolean().nullable().describe('Answer to a yes/no question; null for an open question'),
  judged: judged.describe(
    'False if the model could not judge the yes/no question, see answer; absent otherwise',
  ),
  latency_ms: latency,
  frame_b64: jpegBase64.nullable().describe('Frame of the request; null unless include_frame is true'),
});
apiNames.add(analyzeFrameResponseSchema, { id: 'AnalyzeFrameResponse' });

/** Response of `POST /streams/validate`. Unknown fields are absent. */
export const streamValidationResponseSchema = z.object({
  is_live: z.boolean(),
  platform: z.enum(platforms),
  stream_id: z.string().optional(),
  title: z.string().optional(),
  channel: z.string().optional(),
  thumbnail_url: z.string().optional(),
  viewer_count: z.int().nonnegative().optional(),
  parsed_url: z.string().optional().describe('Playback URL, without credentials'),
  frame_b64: jpegBase64
    .optional()
    .describe('Frame of the live stream; absent unless include_frame is true, or if the capture failed'),
  picture_seconds: z
    .number()
    .optional()
    .describe(
      'Time between new pictures of a stream with rare key frames, in seconds, as far as the capture shows it; absent below 10 s, if unknown, and without a frame',
    ),
  error_hint: z
    .string()
    .optional()
    .describe('Reason why the stream is not live, or gives no frame, with a remedy'),
});
apiNames.add(streamValidationResponseSchema, { id: 'StreamValidation' });
