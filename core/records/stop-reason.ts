import { z } from 'zod';

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
export type StopReason = z.infer<typeof stopReasonSchema>;
