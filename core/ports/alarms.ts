import { z } from 'zod';

export const alarmSchema = z.object({
  name: z.string(),
  /** `unknown`: there are no data to judge by. */
  state: z.enum(['ok', 'alarm', 'unknown']),
  /** What it watches for, what to do, and in the state `alarm` what was measured. */
  description: z.string(),
  /** Since when it is in this state. */
  since: z.iso.datetime().nullable(),
});
export type Alarm = z.infer<typeof alarmSchema>;

/** What watches the service from outside. */
export interface AlarmReader {
  list(): Promise<Alarm[]>;
}
