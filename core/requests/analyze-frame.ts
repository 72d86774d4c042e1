import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { flag, frameBase64, question } from './fields.ts';

/** Body of `POST /analyze-frame`. */
export const analyzeFrameRequestSchema = z.object({
  frame_b64: frameBase64,
  question,
  include_frame: flag.default(false).describe('True to include the frame in the response'),
});
apiNames.add(analyzeFrameRequestSchema, { id: 'AnalyzeFrameRequest' });
