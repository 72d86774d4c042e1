import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { flag, streamUrl } from './fields.ts';

/** Body of `POST /streams/validate`. */
export const validateStreamRequestSchema = z.object({
  stream_url: streamUrl,
  include_frame: flag.default(false).describe('True to include a frame of a live stream in the response'),
});
apiNames.add(validateStreamRequestSchema, { id: 'ValidateStreamRequest' });
