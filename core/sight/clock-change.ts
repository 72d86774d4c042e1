import type { NextTick } from '../records/run-base.ts';
import type { Sight } from '../records/sight.ts';
import { rules } from '../rules.ts';
import { addSeconds, later, type Move, type Mover } from '../time.ts';

/**
 * Moves stored times with a clock that was set back, the same for every policy. A policy lists its times once, by a
 * function that replaces each of them; the same list tells how far the clock was set back.
 */

export type MapTimes<Run> = (run: Run, move: Mover) => Run;

type Ticking = { next: NextTick | null };

/**
 * Returns the run on the clock of `now`. If the clock was set back since the run changed, all times of the run move
 * back with it: its durations stay as they were, and people read times of the clock that they see.
 */
export function onClock<Run>(run: Run, now: Date, mapTimes: MapTimes<Run>): Run {
  return movedBack(run, secondsAhead(newestPast(run, mapTimes), now), mapTimes);
}

/**
 * Returns the run on the clock of its tick, and the time of the tick. The workflow never wakes a run before its time,
 * but for motion at `wokenAt`: if the clock reads less than `wait_until`, the clock was set back while the run waited.
 */
export function atTick<Run extends Ticking>(
  run: Run,
  now: Date,
  mapTimes: MapTimes<Run>,
  wokenAt?: string,
): { run: Run; now: Date } {
  const find = wokenAt === undefined ? newestAtTick : newestPast;
  const newest = find(run, mapTimes);
  const current = movedBack(run, secondsAhead(newest, now), mapTimes);
  return { run: current, now: later(now, current === run ? newest : find(current, mapTimes)) };
}

/** Replaces the times that every run has. */
export function mapRunTimes<Run extends Ticking & { sight: Sight }>(run: Run, { past, other }: Mover): Run {
  const { next, sight } = run;
  const { stream_trouble: stream, model_trouble: model, regained } = sight;
  return {
    ...run,
    next: next && { ...next, wait_until: other(next.wait_until) },
    sight: {
      ...sight,
      counted_until: past(sight.counted_until),
      stream_trouble: stream && { ...stream, since: past(stream.since) },
      model_trouble: model && { ...model, since: past(model.since) },
      ...(regained && { regained: { ...regained, at: past(regained.at) } }),
    },
  };
}

function newestAtTick<Run extends Ticking>(run: Run, mapTimes: MapTimes<Run>): Date {
  const newest = newestPast(run, mapTimes);
  return run.next === null ? newest : later(newest, new Date(run.next.wait_until));
}

function newestPast<Run>(run: Run, mapTimes: MapTimes<Run>): Date {
  let newest = 0;
  const pastMs = (time: number) => {
    newest = Math.max(newest, time);
    return time;
  };
  const past = toMove((time) => {
    pastMs(Date.parse(time));
    return time;
  });
  mapTimes(run, { past, pastMs, other: toMove((time) => time) });
  return new Date(newest);
}

/** 0 if the time is ahead by less than the clocks of several machines differ. */
function secondsAhead(newest: Date, now: Date): number {
  const seconds = (newest.getTime() - now.getTime()) / 1000;
  return seconds > rules.clockDifferenceSeconds ? seconds : 0;
}

function movedBack<Run>(run: Run, seconds: number, mapTimes: MapTimes<Run>): Run {
  if (seconds === 0) return run;
  const move = toMove((time) => addSeconds(new Date(time), -seconds).toISOString());
  return mapTimes(run, { past: move, pastMs: (time) => time - seconds * 1000, other: move });
}

function toMove(replace: (time: string) => string): Move {
  function move(time: string): string;
  function move(time: string | null): string | null;
  function move(time: string | null): string | null {
    return time === null ? null : replace(time);
  }
  return move;
}
