/** Expected course of a job by its committed ticks, without code of core. Times in milliseconds. */

export type JobTick = {
  kind: 'captured' | 'failed' | 'ended' | 'unavailable' | 'not_captured';
  /** Begin of the capture, time of the commit, and the same on the clock that nobody sets. */
  at: number;
  now: number;
  awake: number;
  /** Kills and failed writes until then. */
  disturbances: number;
  segment?: string | null;
  segmentSeconds?: number;
  /** Answer of the model, if it was asked. */
  answer?: boolean | 'failed' | 'left_out' | 'unsure' | undefined;
  /** True for a new picture without motion. */
  isQuiet?: boolean;
  alerts: boolean;
};

type Gap = { from: string; to: string; reason: 'stream' | 'stale' | 'model' };

/** The service ignores a smaller difference of its clock. */
export const clockDifferenceMs = 5000;

/** Not watched is the time from the last tick that was good to the next one, where there was a bad one in between. */
export function expectedGaps(ticks: readonly JobTick[], startedAt: number, endedAt: number): Gap[] {
  const gaps: Gap[] = [];
  let lastGood = startedAt;
  let reason: Gap['reason'] | null = null;
  const close = (to: number): void => {
    if (reason !== null)
      gaps.push({ from: new Date(lastGood).toISOString(), to: new Date(to).toISOString(), reason });
    reason = null;
  };
  let newest = { segment: null as string | null | undefined, since: startedAt };
  for (const { kind, at, segment, segmentSeconds = 0, answer } of ticks) {
    if (kind === 'ended' || kind === 'not_captured') continue;
    if (kind === 'captured' && newest.segment !== segment) newest = { segment, since: at };
    if (kind === 'failed') reason ??= 'stream';
    else if (at - newest.since > 3000 * segmentSeconds) reason ??= 'stale';
    else if (answer === 'failed') reason ??= 'model';
    else {
      close(at);
      lastGood = at;
    }
  }
  close(endedAt);
  return gaps;
}

/** Neither too few alerts nor too many: with a verdict that holds there is one, unless the cooldown runs. */
export function requireAlerts(ticks: readonly JobTick[], interval: number, cooldown: number): void {
  let [least, most, slack] = [Infinity, Infinity, 0];
  for (const [index, tick] of ticks.entries()) {
    const known = knownMs(ticks[index - 1], tick, interval);
    least += known.least;
    most += known.most;
    if (known.isDisturbed || slack > 0) slack += slack === 0 ? clockDifferenceMs + 1000 : 1000;
    const mustAlert = tick.answer === true && (cooldown === 0 || least >= cooldown + slack);
    const mayAlert = tick.answer === true && most >= cooldown - slack;
    if (tick.alerts ? !mayAlert : mustAlert)
      throw new Error(
        `The tick of ${new Date(tick.now).toISOString()} ${tick.alerts ? 'alerts' : 'does not alert'}`,
      );
    if (tick.alerts) [least, most, slack] = [0, 0, 0];
  }
}

/**
 * The least and the most time from a tick to the one before, as the service can know it: by the wall clock, which
 * counts a sleep and a step forward. After a wall clock was set back it knows that it waited an interval, not how late
 * the tick was.
 */
export function knownMs(before: JobTick | undefined, tick: JobTick, interval: number) {
  if (before === undefined) return { least: 0, most: 0, isDisturbed: false };
  const awake = tick.awake - before.awake;
  const wall = tick.now - before.now;
  const isSetBack = wall < awake - clockDifferenceMs;
  return {
    least: isSetBack ? Math.min(awake, Math.max(wall, interval)) : wall,
    most: Math.max(wall, awake),
    isDisturbed: wall !== awake,
  };
}

/**
 * No pause is much longer than the interval while machine and disk work, and of seven captures in a row without motion
 * one is judged.
 */
export function requirePace(ticks: readonly JobTick[], longest: number): void {
  let quiet = 0;
  for (const [index, tick] of ticks.entries()) {
    const before = ticks[index - 1];
    if (before && tick.disturbances === before.disturbances && tick.awake - before.awake > longest)
      throw new Error(
        `${tick.awake - before.awake} ms passed before the tick of ${new Date(tick.now).toISOString()}`,
      );
    quiet = tick.answer === undefined && tick.isQuiet ? quiet + 1 : tick.answer === undefined ? quiet : 0;
    if (quiet > 6) throw new Error(`${quiet} captures without motion were not judged`);
  }
}
