import type { Alert, Watch, WatchStats } from '../api/types.ts';

/** Part of a lane: start and length as shares of its width, 0 to 1. */
export type Span = { from: number; length: number };
/** Lane of a condition: the times with an open alert, and how much of the time they take. */
export type Lane = { conditionId: string; condition: string; open: Span[]; openShare: number };

type Window = { startMs: number; endMs: number };
type Hours = Pick<
  WatchStats['hours'][number],
  'hour' | 'coverage' | 'judged_seconds' | 'quiet_seconds' | 'between_seconds'
>[];
/** Class of an hour: mostly watched, or pictures with time between them. */
type Sight = 'seen' | 'between';

const hourMs = 3_600_000;

/** Returns a lane for each condition of a watch. */
export function createLanes(
  { conditions }: Pick<Watch, 'conditions'>,
  alerts: Pick<Alert, 'condition_id' | 'opened_at' | 'closed'>[],
  window: Window,
): Lane[] {
  return conditions.map(({ condition_id: conditionId, condition }) => {
    const open = alerts
      .filter((alert) => alert.condition_id === conditionId)
      .flatMap(({ opened_at: at, closed }) =>
        cut(Date.parse(at), closed ? Date.parse(closed.at) : window.endMs, window),
      );
    return { conditionId, condition, open, openShare: open.reduce((sum, { length }) => sum + length, 0) };
  });
}

/** Returns the hours of one class in which the stream was there at least half of the time, from the creation of the watch on. */
export function createSight(hours: Hours, createdAt: string, window: Window, kind: Sight): Span[] {
  return hours
    .filter(({ coverage }) => coverage !== null && coverage >= 0.5)
    .filter(
      ({ judged_seconds: judged, quiet_seconds: quiet, between_seconds: between }) =>
        judged + quiet >= between === (kind === 'seen'),
    )
    .flatMap(({ hour }) =>
      cut(Math.max(Date.parse(hour), Date.parse(createdAt)), Date.parse(hour) + hourMs, window),
    );
}

function cut(fromMs: number, toMs: number, { startMs, endMs }: Window): Span[] {
  const from = Math.max(fromMs, startMs);
  const to = Math.min(toMs, endMs);
  const wholeMs = endMs - startMs;
  return to <= from ? [] : [{ from: (from - startMs) / wholeMs, length: (to - from) / wholeMs }];
}
