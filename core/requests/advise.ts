import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { inputModeSchema } from '../records/capture.ts';
import { sensitivitySchema } from '../records/vision.ts';
import { condition, integer } from './fields.ts';

/** Body of `POST /conditions/advise`. Interval and mode are those that the caller has in mind; default: those suggested. */
export const adviseRequestSchema = z.object({
  condition,
  interval_seconds: integer(z.int().min(5).max(300))
    .optional()
    .describe('Seconds between checks for the forecast; default: the suggested ones'),
  sensitivity: sensitivitySchema.optional().describe('Sensitivity of the condition; default: normal'),
  input_mode: inputModeSchema.optional().describe('Media for the forecast; default: the suggested mode'),
});
apiNames.add(adviseRequestSchema, { id: 'AdviseRequest' });
