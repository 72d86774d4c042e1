/** Computes the latency of a call, in whole milliseconds; 0 if the clock was set back. */
export function latencyMs(began: Date, ended: Date): number {
  return Math.max(0, ended.getTime() - began.getTime());
}
