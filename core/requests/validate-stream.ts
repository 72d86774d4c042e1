import { z } from 'zod';
import { flag, streamUrl } from './fields.ts';

/** `POST /streams/validate` (interface section 4.4). */
export const validateStreamRequestSchema = z.object({
  stream_url: streamUrl,
  include_frame: flag.default(false).describe('Whether the answer has a picture of a live stream'),
});
