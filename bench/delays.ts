/** Delays of a run, in milliseconds. */
export type AlertDelays = {
  /** From the planned time of a check to its commit, for all checks. */
  checksMs: number[];
  /** The same, for the checks that alert. */
  alertsMs: number[];
  /** Checks before their planned time: motion woke the watch. They have no delay. */
  woken: number;
};

type LoggedEvent = { type: string; timestamp: string; data: object };

/** Returns the delays of all checks since a time with a known planned time, from the log of a run: that of the first one is not in it. */
export function readDelays(log: readonly LoggedEvent[], sinceMs = 0): AlertDelays {
  const delays: AlertDelays = { checksMs: [], alertsMs: [], woken: 0 };
  let plannedAt: string | null = null;
  let lastMs: number | null = null;
  for (const { type, timestamp, data } of log) {
    // The `progress` event of a check precedes its alert.
    if (type === 'watch_triggered' && lastMs !== null) delays.alertsMs.push(lastMs);
    if (type !== 'progress') continue;
    const atMs = Date.parse(timestamp);
    lastMs = plannedAt === null || atMs < sinceMs ? null : atMs - Date.parse(plannedAt);
    plannedAt = (data as { next_check_at: string | null }).next_check_at;
    if (lastMs === null) continue;
    if (lastMs < 0) delays.woken += 1;
    else delays.checksMs.push(lastMs);
  }
  return delays;
}
