/** Whole milliseconds of a call; a clock that was set back meanwhile makes it 0. */
export function latencyMs(began: Date, ended: Date): number {
  return Math.max(0, ended.getTime() - began.getTime());
}
