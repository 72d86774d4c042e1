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

/** What is not known is left out. */
export const streamValidationResponseSchema = z.object({
  is_live: z.boolean(),
  platform: z.enum(['youtube', 'twitch', 'rtsp', 'hls']),
  stream_id: z.string().optional(),
  title: z.string().optional(),
  channel: z.string().optional(),
  thumbnail_url: z.string().optional(),
  viewer_count: z.int().nonnegative().optional(),
  parsed_url: z.string().optional().describe('Playback URL, without credentials'),
  frame_b64: jpegBase64
    .optional()
    .describe('A picture of the live stream, where include_frame asked for it and one could be taken'),
  error_hint: z.string().optional().describe('Why the stream cannot be watched now'),
});
