import type { NextTick } from '../records/run-base.ts';
import type { Sight } from '../records/sight.ts';
import { ageSeconds, maxGridIntervals, nextOnGrid, toWakeUp } from '../time.ts';
import { hasFailed } from './trouble.ts';

/** Part of a run from which its next tick is planned. */
type Planned = { stream_phase: number | null; next: NextTick | null };

/** Grid of a run: its first point, the interval, and the factor of the interval in an overload. */
export type RunGrid = { startedAt: Date; intervalSeconds: number; stretch: number };

export function nextGridCheck({ stream_phase: phaseMs, next }: Planned, grid: RunGrid, now: Date): Date {
  return nextOnGrid({ ...grid, phaseMs, plannedAt: next && new Date(next.wait_until) }, now);
}

export function toNextTick(
  { stream_phase: phase }: Planned,
  tickAt: Date,
  tick: Pick<NextTick, 'judged'> &
    Partial<Pick<NextTick, 'done' | 'closing' | 'confirming' | 'stretch'>> & { rescans?: boolean },
  outcome: { kind: string },
  { stream_trouble: trouble }: Pick<Sight, 'stream_trouble'>,
): NextTick {
  const { judged, rescans, done = false, closing = false, confirming = false, stretch = 1 } = tick;
  return {
    done,
    wait_until: toWakeUp(tickAt, phase).toISOString(),
    judged,
    ...(rescans && { rescans }),
    closing,
    confirming,
    // An advertisement of a platform is no failure: each new resolution may begin with another one.
    resolve_again: outcome.kind !== 'unavailable' && hasFailed(trouble),
    ...(stretch > 1 && { stretch }),
  };
}

/**
 * Returns the time of the next tick: `now` if none is planned yet, or if the clock was set back since, so that the wait
 * is longer than any planned one. `waitSeconds`: longest wait of the policy beside those for its interval.
 */
export function wakeUpTime(
  next: NextTick | null,
  intervalSeconds: number,
  waitSeconds: number,
  now: Date,
): Date {
  if (next === null) return now;
  const planned = new Date(next.wait_until);
  const checkSeconds = maxGridIntervals * Math.ceil((next.stretch ?? 1) * intervalSeconds);
  // Most times are rounded up to whole seconds.
  return ageSeconds(now, planned) > Math.max(checkSeconds, waitSeconds) + 1 ? now : planned;
}
