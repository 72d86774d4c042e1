import { z } from 'zod';
import { apiNames } from '../api-names.ts';

export const stopReasonSchema = z.enum([
  'condition_triggered',
  'max_triggers_reached',
  'max_duration_reached',
  'max_windows_reached',
  'cancelled',
  'stream_ended',
  'stream_lost',
  'vlm_error',
  'internal_error',
]);
apiNames.add(stopReasonSchema, { id: 'StopReason' });
export type StopReason = z.infer<typeof stopReasonSchema>;
