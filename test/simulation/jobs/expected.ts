import { start } from '../../contract/records.ts';
import { segmentSeconds, type Attempt, type Script } from './scripted-stream.ts';

/** Expected result of a script, computed from the attempts that the stream recorded, without code of core. */

type Gap = { from: string; to: string; reason: 'stream' | 'stale' | 'model' };

/** Not watched is the time from the last look that was good to the next one, where there was a bad one in between. */
export function expectedGaps(attempts: Attempt[], endedAt: Date): Gap[] {
  const gaps: Gap[] = [];
  let lastGood = start;
  let reason: Gap['reason'] | null = null;
  const close = (to: Date): void => {
    if (reason !== null) gaps.push({ from: lastGood.toISOString(), to: to.toISOString(), reason });
    reason = null;
  };
  for (const { at, trouble } of withTrouble(attempts)) {
    if (trouble !== null) reason ??= trouble;
    else {
      close(at);
      lastGood = at;
    }
  }
  close(endedAt);
  return gaps;
}

export function toSeconds(gaps: { from: string; to: string }[]): number {
  return gaps.reduce((sum, { from, to }) => sum + (Date.parse(to) - Date.parse(from)) / 1000, 0);
}

function withTrouble(attempts: Attempt[]): { at: Date; trouble: Gap['reason'] | null }[] {
  let newest: { segment: number; since: Date } | null = null;
  return attempts
    .filter(({ result }) => result !== 'ended')
    .map(({ at, result, segment, judged }) => {
      if (result === 'failed') return { at, trouble: 'stream' as const };
      if (newest?.segment !== segment) newest = { segment: segment!, since: at };
      const standsStillSeconds = (at.getTime() - newest!.since.getTime()) / 1000;
      if (standsStillSeconds > 3 * segmentSeconds) return { at, trouble: 'stale' as const };
      return { at, trouble: judged === 'silent' ? ('model' as const) : null };
    });
}

/** Episodes of which the model saw a picture: one alert each. */
export function expectedAlerts(script: Script, attempts: Attempt[]): number {
  const seen = attempts
    .filter(({ judged }) => judged === true)
    .map(({ segment }) => segment! * segmentSeconds);
  // A frame that froze within an episode shows the episode in every check of it.
  return script.episodes.filter((episode) => seen.some((at) => episodeShownAt(script, at) === episode))
    .length;
}

function episodeShownAt(script: Script, at: number) {
  const frozen = script.troubles.find(({ kind, from, to }) => kind === 'frozen' && from <= at && at < to);
  const moment = frozen?.from ?? at;
  return script.episodes.find(({ from, to }) => from <= moment && moment < to);
}

/** Episodes that no trouble touches and that last long enough for the pre-filter's forced look: nothing may miss them. */
export function unmissable(script: Script, intervalSeconds: number): number {
  return script.episodes.filter(
    ({ from, to }) =>
      to - from >= 8 * intervalSeconds + 2 * segmentSeconds &&
      script.troubles.every((trouble) => trouble.to + intervalSeconds < from || trouble.from > to),
  ).length;
}

/** Computes the minimum and maximum gap time of the two hours from the script alone, in seconds. */
export function boundsOfGaps({ troubles }: Script, intervalSeconds: number): { min: number; max: number } {
  const outages = troubles.filter(({ kind }) =>
    ['down', 'expired', 'stalled', 'silent model'].includes(kind),
  );
  const maxWaitSeconds = Math.max(intervalSeconds, 16) + 1;
  return {
    min: sum(
      outages.map(({ kind, from, to }) => (kind === 'down' ? Math.max(0, to - from - intervalSeconds) : 0)),
    ),
    max: sum(outages.map(({ from, to }) => to - from + intervalSeconds + maxWaitSeconds)),
  };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
