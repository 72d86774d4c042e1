import type { WatchCondition } from '../../records/watch.ts';
import type { ConditionState } from '../../records/watch-state.ts';
import { confirmApartSeconds, momentsApartSeconds } from '../../sight/sure-visit.ts';
import type { ConditionAnswer, ConditionVerdict } from '../../tick/ask-model.ts';
import { momentTime } from '../../sight/moment-time.ts';
import { ageSeconds, later } from '../../time.ts';
import { isByVisit, isSeenClear } from './condition.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import type { WatchOutcome } from './outcome.ts';

type Judged = Extract<WatchOutcome, { kind: 'judged' }>;

/**
 * Datapoint of a condition: a verdict at the time of its frame, or a frame that does not differ from a clear one
 * (`verdict` is `null`).
 */
export type Datapoint = {
  at: Date;
  verdict: ConditionVerdict | null;
  /** Media key of the frame; that of the newest one for a frame that was not judged. */
  frameKey: string;
  isNewest?: boolean;
  /** True if the frame does not differ from one that holds. */
  holds?: boolean;
};

/**
 * Lists the datapoints of a condition in a tick, in time order. `newestAt` is the time of the newest frame on the clock
 * of this service. A verdict that holds counts only if the one that counted before it in this capture is far enough
 * from it: several frames of one shadow are one mistake of the model. `rescans`: a part was judged before.
 */
export function listDatapoints(
  outcome: WatchOutcome,
  rule: WatchCondition,
  state: ConditionState,
  newestAt: Date,
  rescans = false,
): Datapoint[] {
  const { checked_at: checkedAt, last_opened_at: openedAt, history } = state;
  const byVisit = isByVisit(rule);
  if (outcome.kind === 'skipped' && byVisit) return listAlike(outcome, rule, state, newestAt);
  if (outcome.kind === 'skipped' && isSeenClear(state)) return listUnmoved(outcome, newestAt);
  if (outcome.kind !== 'judged') return [];
  const { captured, answers, earlier: moments } = outcome;
  const verdict = findAnswer(answers, rule)?.verdict ?? null;
  const judged = moments
    .flatMap(({ frame_key: frameKey, captured_at: time, answers: earlierAnswers }) => {
      const earlierVerdict = findAnswer(earlierAnswers, rule)?.verdict;
      if (!earlierVerdict) return [];
      return [{ at: momentTime(time, captured, newestAt), verdict: earlierVerdict, frameKey }];
    })
    .filter((moment) => !(rescans && hasCounted(moment.at)));
  const quiet =
    !byVisit && verdict?.triggered === false ? listQuiet(outcome, judged, history.endsWith('0')) : [];
  const points: Datapoint[] = [
    ...judged,
    ...(byVisit ? listAlike(outcome, rule, state, newestAt) : []),
    ...quiet.map((time) => ({
      at: momentTime(time, captured, newestAt),
      verdict: null,
      frameKey: captured.frame_key,
    })),
    ...(verdict ? [{ at: newestAt, verdict, frameKey: shownKey(verdict, captured), isNewest: true }] : []),
  ].toSorted((one, other) => one.at.getTime() - other.at.getTime());
  // A clock that was set back, or a stream whose times jump, puts no datapoint before one that counted.
  const floor = later(new Date((checkedAt.at(-1) ?? 0) * 1000), new Date(openedAt ?? 0));
  return withoutRepeats(points).map((point) => ({ ...point, at: later(floor, point.at) }));

  function hasCounted(time: Date): boolean {
    const isCounted = checkedAt.some(
      (seconds) => Math.abs(time.getTime() / 1000 - seconds) < momentsApartSeconds,
    );
    return isCounted || (openedAt !== null && time <= new Date(openedAt));
  }
}

/** Returns the frames of a scan without motion. */
function listUnmoved({ why, captured }: Extract<WatchOutcome, { kind: 'skipped' }>, end: Date): Datapoint[] {
  if (why !== 'no_motion' || !captured.scan) return [];
  const times = [...captured.scan.quiet, captured.captured_at];
  return times.map((time) => ({
    at: momentTime(time, captured, end),
    verdict: null,
    frameKey: captured.frame_key,
  }));
}

/**
 * Lists the frames of a scan that do not differ from a picture that was judged, the newest or the one that motion is
 * compared with: they hold if it does. Says nothing about a picture of which another verdict is known.
 */
function listAlike(
  outcome: Judged | Extract<WatchOutcome, { kind: 'skipped' }>,
  rule: WatchCondition,
  { reference_holds: reference, unjudged, checked_at: checkedAt, alert }: ConditionState,
  newestAt: Date,
): Datapoint[] {
  const { captured } = outcome;
  if (!captured.scan || (outcome.kind === 'skipped' && outcome.why !== 'no_motion')) return [];
  const newest =
    outcome.kind === 'judged'
      ? findAnswer(outcome.answers, rule)?.verdict?.triggered
      : unjudged > 0
        ? undefined
        : reference;
  if (newest === undefined || (!captured.moved && reference !== undefined && reference !== newest)) return [];
  const moments = outcome.kind === 'judged' ? outcome.earlier : [];
  const judged = new Map(
    moments.map(({ captured_at: time, answers }) => [time, findAnswer(answers, rule)?.verdict?.triggered]),
  );
  const list = (times: readonly string[], holds: boolean | undefined, alike = times) =>
    holds === undefined || alike.some((time) => judged.get(time) === !holds)
      ? []
      : times
          .filter((time) => !judged.has(time))
          .map((time) => ({ at: momentTime(time, captured, newestAt), holds }));
  const stills = (captured.moments ?? []).flatMap(({ captured_at: time, still = [time, time] }) =>
    list(
      [...new Set(still)],
      judged.get(time),
      [...judged.keys()].filter((other) => still[0] <= other && other <= still[1]),
    ),
  );
  const since = Math.max((checkedAt.at(-1) ?? 0) * 1000 + 999, Date.parse(alert?.held_at ?? '1970-01-01'));
  const points = [
    ...list(captured.scan.quiet, newest),
    ...list(captured.scan.unchanged ?? [], reference),
    ...stills,
    ...(outcome.kind === 'skipped' ? [{ at: newestAt, holds: newest }] : []),
  ].filter((point) => point.at.getTime() > since);
  const first = new Map(points.toReversed().map((point) => [point.at.getTime(), point]));
  return [...first.values()]
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .map((point) => ({ ...point, verdict: null, frameKey: captured.frame_key }));
}

/** Returns the answer about a condition; undefined if it is about another text than the current one. */
export function findAnswer(
  answers: readonly ConditionAnswer[],
  { condition_id: id, condition }: Pick<WatchCondition, 'condition_id' | 'condition'>,
): ConditionAnswer | undefined {
  const answer = answers.find(({ condition_id: other }) => other === id);
  return answer?.condition === condition ? answer : undefined;
}

/** Returns the key of a frame that a verdict is about: one of the clip, or the newest frame. */
function shownKey(
  { shown_at_seconds: atSeconds }: ConditionVerdict,
  { frame_key }: Judged['captured'],
): string {
  return atSeconds === undefined ? frame_key : toShownKey(frame_key, atSeconds);
}

/**
 * Returns the times of frames like the newest one, after a picture that was judged clear: an earlier moment, or that of
 * the check before if the newest frame does not differ from it. They were not judged themselves.
 */
function listQuiet(
  { captured, earlier: moments }: Judged,
  judged: readonly Pick<Datapoint, 'verdict' | 'frameKey'>[],
  wasClear: boolean,
): string[] {
  const clear = judged.find(({ verdict }) => verdict?.triggered === false);
  const first = moments.find(({ frame_key: key }) => key === clear?.frameKey);
  const isAsBefore = wasClear && !captured.moved;
  if (!isAsBefore && !first) return [];
  const since = isAsBefore || !first ? 0 : Date.parse(first.captured_at);
  const momentTimes = new Set(moments.map(({ captured_at: time }) => time));
  const quiet = captured.scan?.quiet ?? [];
  return quiet.filter((time) => !momentTimes.has(time) && Date.parse(time) > since);
}

function withoutRepeats(points: readonly Datapoint[]): Datapoint[] {
  let held: Date | undefined;
  return points.filter(({ at, verdict }) => {
    if (!verdict?.triggered) return true;
    if (held !== undefined && ageSeconds(held, at) < confirmApartSeconds) return false;
    held = at;
    return true;
  });
}
