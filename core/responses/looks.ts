import { z } from 'zod';
import { jpegBase64 } from './fields.ts';

/** Answers of the endpoints that look once (interface sections 2.5 to 2.7). */

const latency = z.int().nonnegative().describe('Milliseconds from the request to its answer');

export const checkOnceResponseSchema = z.object({
  triggered: z.boolean().describe('Whether the condition holds'),
  explanation: z.string().describe('Why, tied to what is visible'),
  latency_ms: latency,
  frame_b64: jpegBase64.optional(),
});

export const analyzeFrameResponseSchema = z.object({
  answer: z.string(),
  triggered: z.boolean().nullable().describe('The answer to a yes/no question; null where it is open'),
  latency_ms: latency,
  frame_b64: jpegBase64
    .nullable()
    .describe('The frame as it was sent; null unless include_frame asked for it'),
});

/** Every field is there; null where nothing is known. */
export const streamValidationResponseSchema = z.object({
  is_live: z.boolean(),
  platform: z.enum(['youtube', 'twitch', 'rtsp', 'hls']),
  stream_id: z.string().nullable(),
  title: z.string().nullable(),
  channel: z.string().nullable(),
  thumbnail_url: z.string().nullable(),
  viewer_count: z.int().nonnegative().nullable(),
  parsed_url: z.string().nullable().describe('Playback URL, without credentials'),
  error_hint: z.string().nullable().describe('Why the stream cannot be watched now'),
});
