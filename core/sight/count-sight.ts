import type { Sight, SpanReason } from '../records/sight.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds, earlier, later } from '../time.ts';

/** Sight of a tick over the time since the one before: the stream was seen, or not and why, or nothing is known. */
export type SeenTime = 'seen' | 'unknown' | SpanReason;

/** Part of the active time, watched (`gap` is `null`) or not. */
export type SightSpan = { from: Date; to: Date; gap: SpanReason | null };

/** Active time between two ticks: the whole of it, or the parts on a schedule. */
export type ActiveSpan = { from: Date; to: Date };

/** Facts from which the time since the last count is divided. */
export type SightQuestion = {
  seen: SeenTime;
  /** Time up to which is counted: the begin of a capture, or of a change. */
  at: Date;
  intervalSeconds: number;
  /** True if an overload stretched the interval before this tick or after it. */
  isStretched?: boolean;
  /** Returns the active parts of a time, in order; the default is all of it. */
  listActive?: (from: Date, to: Date) => ActiveSpan[];
};

/**
 * Counts the active time since the last count, the same for every policy: what is counted is watched or a gap, and
 * counted once. If the clock was set back meanwhile, nothing is counted. After a downtime of days, each tick counts
 * `maxHoursPerTick`, the oldest first.
 */
export function countSight<Counted extends Pick<Sight, 'counted_until' | 'in_gap'>>(
  before: Counted,
  { seen, at: tickAt, ...pace }: SightQuestion,
): { sight: Counted; spans: SightSpan[] } {
  const { counted_until: countedUntil } = before;
  if (seen === 'unknown' || countedUntil === null) return { sight: before, spans: [] };
  const from = new Date(countedUntil);
  const until = later(tickAt, from);
  const to = earlier(addSeconds(from, rules.maxHoursPerTick * 3600), until);
  // A part of the time does not end with this tick.
  const seenPart = to < until ? 'service' : seen;
  // A service that checks again knows more about what follows.
  const inGap = before.in_gap === 'service' && seenPart !== 'seen' ? seenPart : before.in_gap;
  return {
    sight: {
      ...before,
      counted_until: to.toISOString(),
      in_gap: seenPart === 'seen' ? null : (inGap ?? seenPart),
    },
    spans: divideSight(inGap, seenPart, from, to, pace),
  };
}

/**
 * Time is watched between two ticks that saw the stream. It is a gap from a tick that did not, and after a silence that
 * late ticks do not explain: the service was down. In an overload, the gap begins when the check was due. The first
 * reason of a gap names it, unless that was the service.
 */
function divideSight(
  inGap: SpanReason | null,
  seen: Exclude<SeenTime, 'unknown'>,
  from: Date,
  to: Date,
  { intervalSeconds, isStretched = false, listActive = listAll }: Omit<SightQuestion, 'seen' | 'at'>,
): SightSpan[] {
  const active = listActive(from, to);
  const seconds = active.reduce((sum, span) => sum + ageSeconds(span.from, span.to), 0);
  const reason = inGap ?? (seen === 'seen' ? null : seen);
  const isDown = seconds > rules.lateIntervals * intervalSeconds + rules.lateAllowanceSeconds;
  if (reason !== null) return active.map((span) => ({ ...span, gap: reason }));
  if (isStretched && seconds >= 2 * intervalSeconds) return divideAt(active, intervalSeconds);
  return active.map((span) => ({ ...span, gap: isDown ? 'service' : null }));
}

function listAll(from: Date, to: Date): ActiveSpan[] {
  return from < to ? [{ from, to }] : [];
}

/** Counts the first `seconds` as watched, and the rest as a gap. */
function divideAt(active: readonly ActiveSpan[], seconds: number): SightSpan[] {
  let left = seconds;
  return active.flatMap(({ from, to }): SightSpan[] => {
    const length = ageSeconds(from, to);
    const due = addSeconds(from, Math.min(left, length));
    left = Math.max(0, left - length);
    return [
      ...(due > from ? [{ from, to: due, gap: null }] : []),
      ...(due < to ? [{ from: due, to, gap: 'overload' as const }] : []),
    ];
  });
}
