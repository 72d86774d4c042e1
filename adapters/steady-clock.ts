/**
 * Returns a monotonic clock for durations that one process measures. It follows the monotonic time of the machine, and the wall
 * clock forward: the monotonic time stops while the machine sleeps. After the wall clock is set back, it stays ahead, so do not
 * show its times.
 */
export function createSteadyClock(source: { wallMs: () => number; monotonicMs: () => number }): () => Date {
  let aheadMs = -Infinity;
  return () => {
    const monotonicMs = source.monotonicMs();
    aheadMs = Math.max(aheadMs, source.wallMs() - monotonicMs);
    return new Date(Math.floor(monotonicMs + aheadMs));
  };
}
