import { z } from 'zod';

/** Events that are measured, as the API returns them. */
const eventsSchema = z.array(
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('progress'),
      timestamp: z.iso.datetime(),
      data: z.object({ next_check_at: z.iso.datetime().nullable() }),
    }),
    z.object({
      type: z.literal('watch_triggered'),
      timestamp: z.iso.datetime(),
      data: z.object({ captured_at: z.iso.datetime(), boxes: z.array(z.unknown()).optional() }),
    }),
  ]),
);

/** Delays of a monitor, in milliseconds, and its alerts without boxes. */
export type AlertDelays = {
  /** From the planned time of a check to its commit, for all checks. */
  checksMs: number[];
  /** The same, for the checks that alert. */
  alertsMs: number[];
  /** From the time of the capture to the alert. */
  agesMs: number[];
  withoutBoxes: number;
  /** Checks before their planned time: motion woke the watch. They have no delay. */
  woken: number;
};

/** Returns the delays of all checks since a time with a known planned time, from the log of a run: that of the first one is not in it. */
export function readDelays(log: readonly { type: string }[], sinceMs = 0): AlertDelays {
  const events = eventsSchema.parse(log.filter(({ type }) => ['progress', 'watch_triggered'].includes(type)));
  const delays: AlertDelays = { checksMs: [], alertsMs: [], agesMs: [], withoutBoxes: 0, woken: 0 };
  let plannedAt: string | null = null;
  let lastMs: number | null = null;
  for (const { type, timestamp, data } of events) {
    const atMs = Date.parse(timestamp);
    if (type === 'progress') {
      lastMs = plannedAt === null || atMs < sinceMs ? null : atMs - Date.parse(plannedAt);
      plannedAt = data.next_check_at;
      if (lastMs === null) continue;
      if (lastMs < 0) delays.woken += 1;
      else delays.checksMs.push(lastMs);
      continue;
    }
    // The `progress` event of a check precedes its alert.
    if (lastMs !== null) delays.alertsMs.push(lastMs);
    delays.agesMs.push(atMs - Date.parse(data.captured_at));
    if (data.boxes === undefined) delays.withoutBoxes += 1;
  }
  return delays;
}
