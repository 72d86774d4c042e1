import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { inputModeSchema } from '../records/capture.ts';
import { condition, flag, integer, streamUrl, frameBase64, question } from './fields.ts';
import { sensitivitySchema } from '../records/vision.ts';

export const checkOnceRequestSchema = z.object({
  stream_url: streamUrl,
  condition,
  include_frame: flag.default(false).describe('True to include the checked frame in the response'),
  input_mode: inputModeSchema
    .default('frames')
    .describe('Media to capture: one frame, a short clip, or both'),
  clip_duration_seconds: integer(z.int().min(1).max(10))
    .default(3)
    .describe('Clip length in seconds; used by clip and hybrid'),
});
apiNames.add(checkOnceRequestSchema, { id: 'CheckOnceRequest' });

export const analyzeFrameRequestSchema = z.object({
  frame_b64: frameBase64,
  question,
  include_frame: flag.default(false).describe('True to include the frame in the response'),
});
apiNames.add(analyzeFrameRequestSchema, { id: 'AnalyzeFrameRequest' });

export const validateStreamRequestSchema = z.object({
  stream_url: streamUrl,
  include_frame: flag.default(false).describe('True to include a frame of a live stream in the response'),
});
apiNames.add(validateStreamRequestSchema, { id: 'ValidateStreamRequest' });

/**
 * Body of `POST /conditions/advise`. Interval and mode are those that the caller has in mind; default: those suggested.
 */
export const adviseRequestSchema = z.object({
  condition,
  interval_seconds: integer(z.int().min(5).max(300))
    .optional()
    .describe('Seconds between checks for the forecast; default: the suggested ones'),
  sensitivity: sensitivitySchema.optional().describe('Sensitivity of the condition; default: normal'),
  input_mode: inputModeSchema.optional().describe('Media for the forecast; default: the suggested mode'),
});
apiNames.add(adviseRequestSchema, { id: 'AdviseRequest' });
