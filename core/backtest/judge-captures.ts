import type { CoreDeps } from '../dependencies.ts';
import { VisionError } from '../vision-errors.ts';
import { callModel, hasRoom, type CallBounds, type LookDeps } from '../memory/look-at-pictures.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { Moment } from '../records/moment.ts';
import { digestQuestion, type WatchCondition } from '../records/watch.ts';
import type { WatchRun } from '../records/run.ts';
import { groupFrames } from '../sight/group-frames.ts';
import { askModel } from '../tick/ask-model.ts';
import type { MomentMedia } from '../tick/read-media.ts';
import type { BacktestState } from './cursor.ts';
import type { JudgedMoment } from './played-capture.ts';
import type { StoredCapture } from './read-captures.ts';

export type JudgeDeps = Pick<LookDeps, 'usage' | 'limits' | 'now' | 'modelPrice' | 'asCaller'> &
  Pick<CoreDeps, 'media'> & { vision: Pick<VisionModel, 'capabilities' | 'judge'> };

/** Reason why a response ends before the backtest does. */
export type StopReason = 'time' | 'calls' | 'model';

/** Ends a response: nothing of its capture is played, and the next response continues with it. */
export class BacktestStop extends Error {
  readonly reason: StopReason;
  readonly failure: VisionError | undefined;

  constructor(reason: StopReason, failure?: VisionError) {
    super(`The backtest stops: ${reason}`, { cause: failure });
    this.reason = reason;
    this.failure = failure;
  }
}

/** Verdicts of a backtest: stored ones of the same question, and those of calls. */
export type Judge = {
  /** Lists the conditions that a moment has no verdict on, and needs one. */
  lacks(moment: Moment): WatchCondition[];
  /** Calls the model about a capture, if a condition needs it. Throws `BacktestStop`. */
  judge(capture: StoredCapture): Promise<void>;
  list(capture: StoredCapture, rule: WatchCondition): JudgedMoment[];
  isOwn(rule: WatchCondition): boolean;
  hasStored(moment: Moment, rule: WatchCondition): boolean;
};

type Judging = {
  watch: WatchRun;
  conditions: readonly WatchCondition[];
  state: BacktestState;
  bounds: CallBounds;
  deps: JudgeDeps;
  /** Conditions that the watch has too, by their ids: its id of it, and the digest of the question. */
  own: ReadonlyMap<string, { id: string; digest: string }>;
  /** False once a call about several pictures was repeated with one. */
  takesSeveral: boolean;
};

export function createJudge(
  watch: WatchRun,
  conditions: readonly WatchCondition[],
  state: BacktestState,
  bounds: CallBounds,
  deps: JudgeDeps,
): Judge {
  const own = new Map(
    conditions.flatMap((rule) => {
      const digest = digestQuestion(rule);
      const same = watch.config.conditions.find((each) => digestQuestion(each) === digest);
      return same ? [[rule.condition_id, { id: same.condition_id, digest }] as const] : [];
    }),
  );
  const takesSeveral = deps.vision.capabilities.judgesMoments;
  const judging: Judging = { watch, conditions, state, bounds, deps, own, takesSeveral };
  return {
    lacks: (moment) => listLacking(judging, moment),
    isOwn: (rule) => own.has(rule.condition_id),
    hasStored: (moment, rule) => findStored(judging, moment, rule).verdict !== undefined,
    judge: async ({ moments }) => judgeMoments(judging, moments),
    list: ({ moments }, rule) => moments.flatMap((moment) => toJudged(judging, moment, rule)),
  };
}

function findStored({ own }: Judging, { verdicts }: Moment, { condition_id: id }: WatchCondition) {
  const question = own.get(id);
  const verdict = verdicts.find((each) => each.condition_id === question?.id);
  const isSame = verdict?.asked === undefined || verdict.asked === question?.digest;
  return { verdict: isSame ? verdict : undefined, isOther: !isSame };
}

function findNew({ state }: Judging, { moment_id: id }: Moment, { condition_id }: WatchCondition) {
  return state.verdicts.find((each) => each.moment_id === id && each.condition_id === condition_id);
}

function listLacking(judging: Judging, moment: Moment): WatchCondition[] {
  const { conditions, state } = judging;
  return conditions.filter((rule, index) => {
    const { verdict, isOther } = findStored(judging, moment, rule);
    if (verdict || findNew(judging, moment, rule)) return false;
    // A live check that asked about other conditions only has left this one out.
    const since = state.known[index] ?? null;
    return isOther || since === null || Date.parse(moment.at) < since;
  });
}

async function judgeMoments(judging: Judging, moments: readonly Moment[]): Promise<void> {
  const { conditions, watch, state, bounds, deps } = judging;
  const wanting = moments.filter((moment) => listLacking(judging, moment).length > 0);
  // A stop keeps the verdicts of the groups before it.
  for (const group of groupMoments(wanting, judging.takesSeveral)) {
    const asked = conditions.filter((rule) =>
      group.some((moment) => listLacking(judging, moment).includes(rule)),
    );
    const media = await readMedia(group, watch, deps);
    if (!media) continue;
    if (state.counts.calls >= bounds.maxCalls) throw new BacktestStop('calls');
    if (!hasRoom(state, bounds, deps.now())) throw new BacktestStop('time');
    const before = state.counts.calls;
    await callAbout(judging, group, asked, media);
    if (state.counts.calls > before + 1) judging.takesSeveral = false;
  }
}

function toJudged(judging: Judging, moment: Moment, rule: WatchCondition): JudgedMoment[] {
  const verdict = findStored(judging, moment, rule).verdict ?? findNew(judging, moment, rule);
  if (!verdict) return [];
  const { triggered, explanation } = verdict;
  const { moment_id: id, at, still = [0, 0], unmoved = false } = moment;
  const { unchanged_seconds: unchangedSeconds = 0 } = moment;
  return [{ id, at: new Date(at), still, unmoved, unchangedSeconds, triggered, explanation }];
}

async function callAbout(
  { state, bounds, deps }: Judging,
  moments: readonly Moment[],
  asked: readonly WatchCondition[],
  media: MomentMedia,
): Promise<void> {
  const judge: VisionModel['judge'] = async (shown, questions) =>
    callModel((signal) => deps.vision.judge(shown, questions, signal), state, bounds, deps);
  const vision = { ...deps.vision, judge };
  const { answers, earlier, failure, busy } = await askModel(
    { joint: asked, separate: [] },
    media,
    { vision, limits: deps.limits },
    bounds.signal,
  );
  const byKey = new Map([
    ...earlier.map((one) => [one.frame_key, one.answers] as const),
    [newestKey(moments, earlier), answers] as const,
  ]);
  for (const { moment_id, frame_key: key } of moments)
    for (const { condition_id, verdict, unjudgedReason } of byKey.get(key ?? '') ?? []) {
      if (verdict === null && unjudgedReason === undefined) continue;
      const { triggered = null, explanation = unjudgedReason ?? '' } = verdict ?? {};
      state.verdicts.push({ moment_id, condition_id, triggered, explanation: explanation.slice(0, 200) });
    }
  if (failure || busy)
    throw new BacktestStop(
      'model',
      new VisionError(failure?.remediation ?? 'The model is busy. Try again later.'),
    );
}

/** Divides moments by the calls about them, oldest first. */
function groupMoments(moments: readonly Moment[], together: boolean): Moment[][] {
  const shown = moments.filter(({ frame_key: key }) => key !== null);
  let asked = 0;
  return groupFrames({ earlier: shown.length - 1 }, 'frames', together).map((size) =>
    shown.slice(asked, (asked += size)),
  );
}

/** Returns the key of the newest moment that has a picture: the others are earlier ones. */
function newestKey(moments: readonly Moment[], earlier: readonly { frame_key: string }[]): string {
  const keys = moments.flatMap(({ frame_key: key }) => key ?? []);
  return keys.findLast((key) => earlier.every((one) => one.frame_key !== key)) ?? '';
}

/** Reads the pictures of moments; undefined without any. */
async function readMedia(
  moments: readonly Moment[],
  { config: { regions } }: WatchRun,
  { media }: JudgeDeps,
): Promise<MomentMedia | undefined> {
  const read = await Promise.all(
    moments.map(async ({ frame_key: key, at }) => {
      const frame = key === null ? undefined : await media.get(key);
      return key !== null && frame ? [{ frame_key: key, at: new Date(at), frame }] : [];
    }),
  );
  const shown = read.flat();
  const newest = shown.pop();
  if (!newest) return undefined;
  const { frame, at } = newest;
  return { mode: 'frames', frame, at, moments: shown, ...(regions !== null && { regions }) };
}
