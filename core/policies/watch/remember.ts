import { toMomentId, type Moment } from '../../records/moment.ts';
import { digestQuestion, type WatchCondition } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
import type { Captured } from '../../sight/screening.ts';
import { frameTime, momentTime } from '../../sight/moment-time.ts';
import type { ConditionAnswer } from '../../tick/ask-model.ts';
import { addSeconds, ageSeconds, later } from '../../time.ts';
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

/**
 * Returns the judged pictures of a tick that the memory of its watch keeps. `at` is the begin of the capture, `now` the
 * time of the decision.
 */
export function createMoments(
  { run_id: watchId, caller, config, last_tick: lastTick }: WatchRun,
  seen: WatchOutcome,
  judgedBy: string,
  { at: beganAt, now }: { at: Date; now: Date },
): Moment[] {
  if (seen.kind !== 'judged' || config.memory_days === 0) return [];
  const newestAt = frameTime(seen.captured, beganAt, now);
  // A change of the days during the tick leaves its pictures where they would live too long, or not long enough.
  const folder = `${frameFolder(config.memory_days)}/`;
  const kept = listJudged(seen).flatMap((moment) => {
    const verdicts = config.conditions.flatMap((rule) => toVerdict(findAnswer(moment.answers, rule), rule));
    if (verdicts.length === 0 || !moment.frame_key.startsWith(folder)) return [];
    const scanned = describeScan(moment, seen.captured);
    return [{ ...moment, verdicts, scanned, at: momentTime(moment.captured_at, seen.captured, newestAt) }];
  });
  const captureAt = kept.map((moment) => moment.at).reduce(later, new Date(0));
  return kept.map(({ frame_key, verdicts, scene, scanned, at: shownAt }) => ({
    moment_id: toMomentId({ watchId, captureAt, tick: lastTick + 1, at: shownAt }),
    watch_id: watchId,
    caller,
    at: shownAt.toISOString(),
    verdicts,
    ...scene,
    judged_by: judgedBy,
    ...scanned,
    frame_key,
    expires_at: addSeconds(shownAt, config.memory_days * daySeconds).toISOString(),
  }));
}

const daySeconds = 86_400;

/** Returns what a scan saw around a moment, and before all moments of its capture. */
function describeScan(
  moment: JudgedMoment,
  captured: Captured,
): Pick<Moment, 'still' | 'unmoved' | 'unchanged_seconds'> {
  const still = findStill(moment, captured);
  const { captured_at: newestAt, moved, scan } = captured;
  const isNewest = moment.captured_at === newestAt;
  const [since = newestAt] = scan?.unchanged?.toSorted() ?? [];
  const seconds = ageSeconds(since, new Date(newestAt));
  return {
    ...(still && { still }),
    ...(isNewest && !moved && { unmoved: true as const }),
    ...(isNewest && seconds > 0 && { unchanged_seconds: seconds }),
  };
}

/** Returns for how long a scan saw nothing change before a moment and after it, in seconds. */
function findStill(
  { frame_key: key, captured_at: frameAt }: JudgedMoment,
  { captured_at: newestAt, moments = [], scan }: Captured,
): Moment['still'] {
  const earlier = moments.find((moment) => moment.frame_key === key);
  const changedAt = moments.map((moment) => moment.captured_at).filter((time) => time < newestAt);
  const since = changedAt.toSorted().at(-1) ?? '';
  const quiet = frameAt === newestAt ? (scan?.quiet ?? []).filter((time) => time > since) : [];
  const [from = frameAt, to = frameAt] = earlier ? (earlier.still ?? []) : [quiet.toSorted()[0] ?? frameAt];
  const seconds = [ageSeconds(from, new Date(frameAt)), ageSeconds(frameAt, new Date(to))] as const;
  return seconds.some((each) => each > 0) ? [seconds[0], seconds[1]] : undefined;
}

/** A call that failed, or that left the condition out, has judged nothing. */
function toVerdict(answer: ConditionAnswer | undefined, rule: WatchCondition): Moment['verdicts'] {
  if (!answer) return [];
  const { condition_id, verdict, unjudgedReason } = answer;
  const asked = digestQuestion(rule);
  if (verdict) {
    const { triggered, explanation } = verdict;
    return [{ condition_id, triggered, explanation: shorten(explanation), asked }];
  }
  if (unjudgedReason === undefined) return [];
  return [{ condition_id, triggered: null, explanation: shorten(unjudgedReason), asked }];
}
