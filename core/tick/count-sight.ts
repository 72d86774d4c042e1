import type { GapReason } from '../records/job.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds } from '../time.ts';

/** Sight of a tick over the time since the one before: the stream was seen, or not and why, or nothing. */
export type Sight = 'seen' | 'unknown' | GapReason;

/** Part of the active time, watched (`gap` is `null`) or not. */
export type SightSpan = { from: Date; to: Date; gap: GapReason | null };

/** Active time between two ticks: the whole of it, or the parts on a schedule. */
export type ActiveSpan = { from: Date; to: Date };

/** Facts from which the time since the last count is divided. */
export type SightQuestion = {
  /** Active time since the last count, in order. */
  active: readonly ActiveSpan[];
  /** Reason of the gap that was open at the last count; `null` without one. */
  inGap: GapReason | null;
  sight: Exclude<Sight, 'unknown'>;
  intervalSeconds: number;
  /** True if an overload stretched the interval before this tick or after it. */
  isStretched: boolean;
};

/**
 * Divides active time into what was watched and gaps, the same for every policy. Time is watched between two ticks that saw the stream. It is a gap from
 * a tick that did not, and after a silence that late ticks do not explain: the service was down. In an overload, the gap begins when the check was due.
 */
export function divideSight({
  active,
  inGap,
  sight,
  intervalSeconds,
  isStretched,
}: SightQuestion): SightSpan[] {
  const seconds = active.reduce((sum, { from, to }) => sum + ageSeconds(from, to), 0);
  const reason = inGap ?? (sight === 'seen' ? null : sight);
  const isDown = seconds > rules.lateIntervals * intervalSeconds + rules.lateAllowanceSeconds;
  if (reason !== null) return active.map((span) => ({ ...span, gap: reason }));
  if (isStretched && seconds >= 2 * intervalSeconds) return divideAt(active, intervalSeconds);
  return active.map((span) => ({ ...span, gap: isDown ? 'service' : null }));
}

/** Counts the first `seconds` as watched, and the rest as a gap of the service. */
function divideAt(active: readonly ActiveSpan[], seconds: number): SightSpan[] {
  let left = seconds;
  return active.flatMap(({ from, to }): SightSpan[] => {
    const length = ageSeconds(from, to);
    const due = addSeconds(from, Math.min(left, length));
    left = Math.max(0, left - length);
    return [
      ...(due > from ? [{ from, to: due, gap: null }] : []),
      ...(due < to ? [{ from: due, to, gap: 'service' as const }] : []),
    ];
  });
}
