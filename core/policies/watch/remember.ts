import type { Moment } from '../../records/moment.ts';
import { toMomentId } from '../../records/moment.ts';
import type { WatchRun } from '../../records/watch-run.ts';
import { frameTime, momentTime } from '../../sight/moment-time.ts';
import type { ConditionAnswer } from '../../tick/ask-model.ts';
import { addSeconds, later } from '../../time.ts';
import type { JudgedMoment } from '../policy.ts';
import { shorten } from './condition.ts';
import { findAnswer } from './datapoints.ts';
import { frameFolder } from './evidence.ts';
import type { WatchOutcome } from './outcome.ts';

/** Lists the moments that the model was asked about, oldest first. */
export function listJudged(seen: WatchOutcome): JudgedMoment[] {
  if (seen.kind !== 'judged') return [];
  const { captured, answers, earlier: before, scene } = seen;
  return [...before, ...(answers.length > 0 ? [{ ...captured, answers, ...(scene && { scene }) }] : [])];
}

/** Returns the judged pictures of a tick that the memory of its watch keeps. `at` is the begin of the capture, `now` the time of the decision. */
export function createMoments(
  { run_id: watchId, caller, config, last_tick: lastTick }: WatchRun,
  seen: WatchOutcome,
  judgedBy: string,
  { at, now }: { at: Date; now: Date },
): Moment[] {
  if (seen.kind !== 'judged' || config.memory_days === 0) return [];
  const newestAt = frameTime(seen.captured, at, now);
  // A change of the days during the tick leaves its pictures where they would live too long, or not long enough.
  const folder = `${frameFolder(config.memory_days)}/`;
  const kept = listJudged(seen).flatMap((moment) => {
    const verdicts = config.conditions.flatMap((rule) => toVerdict(findAnswer(moment.answers, rule)));
    if (verdicts.length === 0 || !moment.frame_key.startsWith(folder)) return [];
    return [{ ...moment, verdicts, at: momentTime(moment.captured_at, seen.captured, newestAt) }];
  });
  const captureAt = kept.map((moment) => moment.at).reduce(later, new Date(0));
  return kept.map(({ frame_key, verdicts, scene, at: shownAt }) => ({
    moment_id: toMomentId({ watchId, captureAt, tick: lastTick + 1, at: shownAt }),
    watch_id: watchId,
    caller,
    at: shownAt.toISOString(),
    verdicts,
    ...scene,
    judged_by: judgedBy,
    frame_key,
    expires_at: addSeconds(shownAt, config.memory_days * daySeconds).toISOString(),
  }));
}

const daySeconds = 86_400;

/** A call that failed, or that left the condition out, has judged nothing. */
function toVerdict(answer: ConditionAnswer | undefined): Moment['verdicts'] {
  if (!answer) return [];
  const { condition_id, verdict, unjudgedReason } = answer;
  if (verdict) {
    const { triggered, explanation } = verdict;
    return [{ condition_id, triggered, explanation: shorten(explanation) }];
  }
  if (unjudgedReason === undefined) return [];
  return [{ condition_id, triggered: null, explanation: shorten(unjudgedReason) }];
}
