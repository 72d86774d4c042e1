import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { inputModeSchema } from '../records/capture.ts';
import { condition, flag, integer, streamUrl } from './fields.ts';

/** Body of `POST /check-once`. */
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
