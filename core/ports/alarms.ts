import { z } from 'zod';

export const alarmSchema = z.object({
  name: z.string(),
  /** `unknown`: the alarm has no data. */
  state: z.enum(['ok', 'alarm', 'unknown']),
  /** Condition and remediation; in the state `alarm` also the measured values. */
  description: z.string(),
  /** Time of the last change of state; `null` if unknown. */
  since: z.iso.datetime().nullable(),
});
export type Alarm = z.infer<typeof alarmSchema>;

/** Source of alarms that are evaluated outside of the service. */
export interface AlarmReader {
  list(): Promise<Alarm[]>;
}
