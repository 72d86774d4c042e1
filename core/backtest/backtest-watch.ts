import { priceCheck, type ForecastPrice } from '../advice/forecast.ts';
import type { CoreDeps } from '../dependencies.ts';
import { describeSight, listUnseen } from '../memory/describe-search.ts';
import { boundCalls, type CallBounds, counted } from '../memory/look-at-pictures.ts';
import { readCursor, writeCursor } from '../memory/search-cursor.ts';
import { limitSpan, readSpans } from '../memory/searched-watches.ts';
import { createWatchRun } from '../policies/watch/initial-state.ts';
import type { LinkSigner } from '../ports/delivery.ts';
import type { WatchCondition } from '../records/watch.ts';
import { watchProgressSchema, type WatchRun } from '../records/run.ts';
import { groupFrames } from '../sight/group-frames.ts';
import { addSeconds, later } from '../time.ts';
import { requireOwnWatch } from '../watch/commit-watch.ts';
import { backtestStateSchema, type BacktestState, type ConditionPlay, type PlayedAlert } from './cursor.ts';
import { BacktestStop, createJudge, type Judge, type JudgeDeps, type StopReason } from './judge-captures.ts';
import { createPlay, type Play } from './play-condition.ts';
import { readCaptures, type StoredCapture } from './read-captures.ts';
import type { z } from 'zod';
import { presentMoment, toUsd } from '../memory/present-search.ts';
import { readMomentId } from '../records/moment.ts';
import type { backtestResponseSchema } from '../responses/moments.ts';

export type BacktestDeps = JudgeDeps &
  Pick<CoreDeps, 'runs' | 'watches' | 'moments' | 'meter'> & {
    modelPrice: ForecastPrice | null;
    evidenceLinks: { signer: LinkSigner };
  };

export type BacktestInput = {
  watchId: string;
  /** Absent: those of the watch. */
  conditions: WatchCondition[] | undefined;
  from: Date | undefined;
  to: Date | undefined;
  maxCalls: number;
  cursor: string | undefined;
  estimate: boolean;
};

export type BacktestAlert = PlayedAlert & { rule: WatchCondition };

export type BacktestResult = {
  alerts: BacktestAlert[];
  possible: BacktestAlert[];
  /** Alerts that are open where the response ends; none at the end of the backtest. */
  open: BacktestAlert[];
  state: BacktestState;
  cursor: string | null;
  stopped: StopReason | null;
  sentence: string;
};

/** Time of the estimate in a request. */
const maxEstimateSeconds = 10;
/** Captures at the begin of a span that may lack a verdict because they confirmed another condition. */
const maxConfirming = 3;
/** Captures after which others have their turn. */
const capturesAtOnce = 10;

/**
 * Plays the memory of a watch through the tick of watches, with its own or other conditions. Returns what was played
 * within `maxSeconds`, with a cursor for the rest. Throws `WatchNotFoundError`, also if the watch is deleted meanwhile,
 * `WatchpostError` for an empty span or a foreign cursor, and `VisionError` if the model fails before it has judged a
 * picture.
 */
export async function backtestWatch(
  input: BacktestInput,
  caller: string,
  deps: BacktestDeps,
  signal: AbortSignal,
): Promise<BacktestResult> {
  const now = deps.now();
  const watch = await requireOwnWatch(input.watchId, caller, deps);
  const conditions = input.conditions ?? watch.config.conditions;
  const { watchId, from, to } = input;
  const request = [caller, watchId, from, to, playedConfig(watch, conditions)] as const;
  const { signer } = deps.evidenceLinks;
  const before = await readCursor(input.cursor, request, backtestStateSchema, signer);
  const state = before ?? newState(limitSpan(input, now));
  const bounds = boundCalls(caller, input.maxCalls, now, signal);
  const judge = createJudge(watch, conditions, state, bounds, deps);
  if (!before) await addEstimate(watch, conditions, judge, state, bounds, deps);
  const played = input.estimate
    ? { alerts: [], possible: [], open: [], stopped: null, isDone: false }
    : await counted(() => playAll(watch, conditions, judge, state, bounds, deps), state, !before, deps);
  // A watch that was deleted meanwhile has no moments left: that is no answer.
  await requireOwnWatch(input.watchId, caller, deps);
  const { isDone, ...result } = played;
  return {
    ...result,
    state,
    cursor: isDone || input.estimate ? null : await writeCursor(state, request, signer),
    sentence: await describe(watch, input.estimate ? null : result, state, deps),
  };
}

/**
 * Returns the configuration of a watch as a backtest plays it: its destinations, budget and memory have no part in it.
 */
function playedConfig({ config }: WatchRun, conditions: WatchCondition[]): WatchRun['config'] {
  return {
    ...config,
    input_mode: 'frames',
    budget: null,
    destinations: [],
    memory_days: 0,
    name: '',
    labels: [],
    conditions,
  };
}

function newState({ from, to }: { from: Date; to: Date }): BacktestState {
  return {
    from: from.getTime(),
    to: to.getTime(),
    after: null,
    counts: { calls: 0, micro_usd: 0, captures: 0, moments: 0, gone: 0, unjudged: 0 },
    estimate: { calls: 0, micro_usd: 0, moments: 0, exact: true },
    known: [],
    plays: [],
    verdicts: [],
  };
}

/** Counts the calls that a backtest needs, and finds since when the conditions have verdicts. */
async function addEstimate(
  watch: WatchRun,
  conditions: readonly WatchCondition[],
  judge: Judge,
  state: BacktestState,
  { signal }: CallBounds,
  deps: BacktestDeps,
): Promise<void> {
  const span = toSpan(watch, state, deps);
  const deadline = addSeconds(deps.now(), maxEstimateSeconds);
  const lacking = conditions.map(() => 0);
  let pictures = 0;
  state.known = conditions.map(() => null);
  for await (const { moments, at: time } of readCaptures(watch, { ...span, after: null }, deps)) {
    for (const [index, rule] of conditions.entries()) {
      if (state.known[index] !== null || moments.length === 0) continue;
      const stored = moments.find((moment) => judge.hasStored(moment, rule));
      if (!stored) lacking[index] = (lacking[index] ?? 0) + 1;
      else state.known[index] = (lacking[index] ?? 0) <= maxConfirming ? 0 : Date.parse(stored.at);
    }
    const asked = moments.filter((moment) => moment.frame_key !== null && judge.lacks(moment).length > 0);
    state.estimate.moments += moments.length;
    pictures += asked.length;
    const { judgesMoments } = deps.vision.capabilities;
    if (asked.length > 0)
      state.estimate.calls += groupFrames({ earlier: asked.length - 1 }, 'frames', judgesMoments).length;
    if (deps.now() < deadline && !signal.aborted) continue;
    const share =
      (time.getTime() - span.from.getTime()) / Math.max(1, span.to.getTime() - span.from.getTime());
    const scale = (value: number) => Math.round(value / Math.max(share, 0.001));
    pictures = scale(pictures);
    const { calls, moments: read } = state.estimate;
    Object.assign(state.estimate, { calls: scale(calls), moments: scale(read), exact: false });
    break;
  }
  state.estimate.micro_usd = await priceCalls(watch, state, pictures, span, deps);
}

/**
 * Returns the price of calls about pictures, by the tokens of those that the watch made in the span; `null` if it is
 * unknown.
 */
async function priceCalls(
  watch: WatchRun,
  { estimate: { calls } }: BacktestState,
  pictures: number,
  { from, to }: { from: Date; to: Date },
  { watches, modelPrice }: BacktestDeps,
): Promise<number | null> {
  if (modelPrice === null) return null;
  const hours = await watches.hours(watch.run_id, from, to);
  const sum = (name: 'model_calls' | 'input_tokens' | 'output_tokens') =>
    hours.reduce((all, { counts }) => all + counts[name], 0);
  const [made, input, output] = [sum('model_calls'), sum('input_tokens'), sum('output_tokens')];
  if (made > 0)
    return Math.round((calls / made) * (input * modelPrice.input + output * modelPrice.output) * 1_000_000);
  const usd = priceCheck({ calls, frames: pictures, answers: pictures, mode: 'frames' }, modelPrice);
  return Math.round(usd * 1_000_000);
}

/** Returns the span of a backtest, as far as its watch still remembers it. */
function toSpan(
  { created_at: createdAt, config }: WatchRun,
  { from, to }: BacktestState,
  { now }: BacktestDeps,
) {
  const kept = addSeconds(now(), -config.memory_days * 86_400);
  const begin = later(new Date(from), later(new Date(createdAt), kept));
  return { from: begin, to: later(new Date(to), begin) };
}

type Played = Omit<BacktestResult, 'state' | 'cursor' | 'sentence'> & { isDone: boolean };

async function playAll(
  watch: WatchRun,
  conditions: WatchCondition[],
  judge: Judge,
  state: BacktestState,
  { deadline, signal }: CallBounds,
  deps: BacktestDeps,
): Promise<Played> {
  const place = () => `${state.after?.id} ${state.verdicts.length}`;
  const begin = place();
  const span = toSpan(watch, state, deps);
  const plays = await Promise.all(
    conditions.map(async (rule, index) => {
      const first = createWatchRun({ ...watch, config: playedConfig(watch, [rule]) }, span.from);
      const stored = state.plays[index];
      const seen = { ...first, sight: { ...first.sight, scan: watch.sight.scan } };
      return createPlay(seen, rule, stored ?? newPlay(seen, span.from), judge.isOwn(rule));
    }),
  );
  let stopped: StopReason | null = null;
  try {
    for await (const capture of readCaptures(watch, { ...span, after: state.after }, deps)) {
      if (deps.now() >= addSeconds(deadline, -1) || signal.aborted) throw new BacktestStop('time');
      await judge.judge(capture);
      await playCapture(capture, conditions, plays, judge, state);
      // Others have their turn: without calls, nothing else waits here.
      if (state.counts.captures % capturesAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } catch (error) {
    if (!(error instanceof BacktestStop)) throw error;
    if (error.failure && place() === begin) throw error.failure;
    stopped = error.reason;
  }
  state.plays = plays.map((play) => play.read());
  const told = plays.map((play) => play.take());
  const list = (read: (index: number) => readonly PlayedAlert[]) =>
    conditions
      .flatMap((rule, index) => read(index).map((alert): BacktestAlert => ({ ...alert, rule })))
      .toSorted((one, other) => (one.opened_at < other.opened_at ? -1 : 1));
  return {
    alerts: list((index) => told[index]?.alerts ?? []),
    possible: list((index) => told[index]?.possible ?? []),
    open: list((index) => [state.plays[index]?.open ?? []].flat()),
    stopped,
    isDone: stopped === null,
  };
}

function newPlay(first: WatchRun, start: Date): ConditionPlay {
  const progress = watchProgressSchema.parse(first);
  return { at: start.toISOString(), progress, open: null, held: [], lacking: null, told: false };
}

async function playCapture(
  capture: StoredCapture,
  conditions: readonly WatchCondition[],
  plays: readonly Play[],
  judge: Judge,
  state: BacktestState,
): Promise<void> {
  const { at: capturedAt, id, moments, spans, isEnd } = capture;
  for (const [index, rule] of conditions.entries()) {
    if (isEnd) await plays[index]?.end(capturedAt, spans);
    else if (moments.length > 0) await plays[index]?.capture(judge.list(capture, rule), spans);
  }
  if (moments.length === 0) return;
  const { counts } = state;
  counts.captures += 1;
  counts.moments += moments.length;
  counts.gone += moments.filter((moment) => judge.lacks(moment).length > 0).length;
  counts.unjudged += state.verdicts.filter(({ triggered }) => triggered === null).length;
  Object.assign(state, { after: { at: capturedAt.getTime(), id }, verdicts: [] });
}

/** Describes what was played, if anything was, and what nobody saw. */
async function describe(
  watch: WatchRun,
  played: Pick<BacktestResult, 'alerts' | 'possible' | 'open'> | null,
  state: BacktestState,
  deps: BacktestDeps,
): Promise<string> {
  const span = { from: new Date(state.from), to: new Date(state.to) };
  const watches = await readSpans([watch], span, deps);
  const parts = played ? describePlayed(played, state) : describeEstimate(state);
  return `${parts.join(', ')}. ${describeSight(watches, listUnseen(watches))}`;
}

function describeEstimate({ estimate: { moments, calls, exact } }: BacktestState): string[] {
  return [`${exact ? '' : 'About '}${count(moments, 'moment')} to play with ${count(calls, 'model call')}`];
}

function describePlayed(
  { alerts, possible, open }: Pick<BacktestResult, 'alerts' | 'possible' | 'open'>,
  { counts, estimate: all }: BacktestState,
): string[] {
  return [
    count(alerts.length + open.length, 'alert'),
    ...(possible.length > 0 ? [`${possible.length} possible, which lacked only a confirming picture`] : []),
    `${counts.moments.toLocaleString('en-US')} of ${all.exact ? '' : 'about '}${count(all.moments, 'moment')} played`,
    ...(counts.gone > 0 ? [`${count(counts.gone, 'moment')} without a picture to judge`] : []),
    ...(counts.unjudged > 0 ? [`${count(counts.unjudged, 'verdict')} that the model could not give`] : []),
  ];
}

function count(value: number, noun: string): string {
  return `${value.toLocaleString('en-US')} ${noun}${value === 1 ? '' : 's'}`;
}

type Response = z.input<typeof backtestResponseSchema>;
type Deps = Pick<CoreDeps, 'moments' | 'baseUrl' | 'now'>;

/** Presents a backtest. Pictures that are gone meanwhile have no URL. */
export async function presentBacktest(
  { alerts, open, possible, state, cursor, stopped, sentence }: BacktestResult,
  caller: string,
  deps: Deps,
): Promise<Response> {
  const { from, to, after, counts, estimate } = state;
  const present = async (listed: readonly BacktestAlert[]) =>
    Promise.all(listed.map((alert) => presentAlert(alert, caller, deps)));
  return {
    sentence,
    alerts: await present(alerts),
    open: await present(open),
    possible: await present(possible),
    next_cursor: cursor,
    stopped,
    from: toTime(from),
    to: toTime(to),
    played_to: toTime(cursor === null && stopped === null ? to : (after?.at ?? from)),
    moments: counts.moments,
    without_picture: counts.gone,
    not_judged: counts.unjudged,
    model_calls: counts.calls,
    cost_usd: toUsd(counts.micro_usd),
    estimate: {
      moments: estimate.moments,
      model_calls: estimate.calls,
      cost_usd: toUsd(estimate.micro_usd),
      exact: estimate.exact,
    },
  };
}

async function presentAlert(
  { rule, shown, moments: ids, ...alert }: BacktestAlert,
  caller: string,
  deps: Deps,
): Promise<Response['alerts'][number]> {
  const read = async (id: string) => {
    const moment = await deps.moments.get(caller, id, deps.now());
    return [id, moment ? presentMoment(moment, deps).picture_url : null] as const;
  };
  const urls = new Map(await Promise.all([...new Set([shown, ...ids])].map(read)));
  const moments = ids.map((id) => ({
    moment_id: id,
    at: (readMomentId(id)?.at ?? new Date(alert.opened_at)).toISOString(),
    picture_url: urls.get(id) ?? null,
  }));
  const { condition_id, condition } = rule;
  return { condition_id, condition, ...alert, picture_url: urls.get(shown) ?? null, moments };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
