/**
 * Returns a clock that never goes back, for durations that one process measures. It runs with the monotonic clock, and follows the wall
 * clock forward: a machine that slept stopped the monotonic one. After the wall clock was set back it stays ahead, so nothing that
 * people read is taken from it.
 */
export function createSteadyClock(source: { wallMs: () => number; monotonicMs: () => number }): () => Date {
  let aheadMs = -Infinity;
  return () => {
    const monotonicMs = source.monotonicMs();
    aheadMs = Math.max(aheadMs, source.wallMs() - monotonicMs);
    return new Date(Math.floor(monotonicMs + aheadMs));
  };
}
