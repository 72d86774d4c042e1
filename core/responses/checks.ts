import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { platforms } from '../records/platform.ts';
import { jpegBase64 } from './fields.ts';

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
