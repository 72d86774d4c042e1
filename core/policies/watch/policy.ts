import type { RunChange } from '../../ports/runs.ts';
import { isCamera } from '../../records/platform.ts';
import type { Run, WatchRun } from '../../records/run.ts';
import { toWatchEvents, type NewWatchEvent } from '../../records/watch-event.ts';
import type { CaptureOutput, TickInput } from '../../records/workflow.ts';
import type { Schedule } from '../../records/watch.ts';
import { advanceRun } from '../../tick/advance-run.ts';
import { atTick } from '../../sight/clock-change.ts';
import type { ConditionAnswer, Judgement } from '../../tick/ask-model.ts';
import { frameTime, momentTime } from '../../sight/moment-time.ts';
import type { Captured } from '../../sight/screening.ts';
import { addSeconds, ageSeconds, earlier } from '../../time.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import type { Evidence, Policy, Tick } from '../policy.ts';
import type { ConditionState } from '../../records/watch-state.ts';
import type { Sight } from '../../records/sight.ts';
import { mapWatchTimes } from './map-times.ts';
import { isPending } from './condition.ts';
import { type Reserved, sumCalls, computeCost, planCheck, type CostSettings } from './budget.ts';
import { isRefreshDue, mediaName } from './evidence.ts';
import { createMoments, listJudged } from './remember.ts';
import { decideHealth } from './health.ts';
import { watchWakeUpTime } from './next-tick.ts';
import type { WatchOutcome } from './outcome.ts';
import { findState, planAllQuestions, planQuestions, screenWatchCapture } from './questions.ts';
import { scheduleAt } from './schedule.ts';
import { decideWatchTick } from './decide-tick.ts';
import { listUnsure } from './counts.ts';
import type { CreateAlertId } from './condition-steps.ts';

export type WatchSettings = CostSettings & {
  /**
   * Time from the start of an attempt at a lost camera to the next, in seconds; absent on hosts where attempts cost
   * money.
   */
  lostCameraSeconds?: number | undefined;
  /** True on hosts that follow streams between checks. */
  wakesOnMotion?: boolean;
  createAlertId: CreateAlertId;
  /** Name of the model, for the memory of watches. */
  judgedBy: string;
};

/**
 * Several conditions with alerts that open and close, on a schedule and a budget, until a caller pauses or deletes the
 * watch.
 */
export function createWatchPolicy(settings: WatchSettings): Policy<WatchRun, WatchOutcome> {
  return {
    owns: (run: Run): run is WatchRun => run.policy === 'watch',
    isOver,
    probesLost: true,
    confirms: ({ config, state }) =>
      config.conditions.some((rule) => {
        const condition = findState(state.conditions, rule);
        return condition !== undefined && condition.phase !== 'open' && isPending(condition, rule);
      }),
    // The rest of a day's budget is for the checks of the grid.
    wakes: ({ config, status, state, next }) =>
      (settings.wakesOnMotion ?? false) &&
      config.look_back &&
      status === 'active' &&
      state.budget?.warned !== true &&
      next?.stretch === undefined,
    interval: ({ config }) => config.interval_seconds,
    wakeAt: watchWakeUpTime,
    begin: () => undefined,
    beginsClosed: ({ config }, now) => !scheduleAt(config.schedule, now).active,
    work: (stored, output, now) => {
      const { run: watch } = atTick(stored, now, mapWatchTimes, output.woken_at);
      const { config, sight } = watch;
      const newestAt = output.kind === 'captured' ? newestTime(output, output) : now;
      const screening = screenWatchCapture(watch, onSchedule(output, config.schedule), newestAt);
      if (screening.kind !== 'fresh') return { kind: 'seen', seen: screening };
      const { captured } = screening;
      const isOver = showsEnd(captured, output, config.schedule);
      if (isOver && !captured.moments?.length)
        return { kind: 'seen', seen: { kind: 'skipped', why: 'no_motion', captured } };
      const asked = { ...captured, black: captured.black || isOver };
      const lacksPrice = (config.budget?.usd_per_day ?? null) !== null && settings.modelPrice === null;
      if (lacksPrice) return { kind: 'seen', seen: { kind: 'not_asked', captured, why: 'price' } };
      const due = planQuestions(watch);
      const isEmpty = due.joint.length + due.separate.length === 0;
      // A moment is scanned once, so all conditions are judged in it.
      const asksAll = isEmpty || (captured.moments ?? []).length > 0;
      const questions = asksAll ? planAllQuestions(watch) : due;
      const planned = planCheck(watch, asked, questions, settings, now);
      if (planned === 'exhausted') {
        const { black } = asked;
        const seen: WatchOutcome = black
          ? { kind: 'skipped', captured, why: 'black' }
          : { kind: 'not_asked', captured, why: 'budget' };
        return { kind: 'seen', seen };
      }
      const { reserved, ...check } = planned;
      return {
        kind: 'check',
        captured: asked,
        judged: (judgement) => readJudgement(captured, judgement, settings.modelPrice, reserved),
        questions,
        mode: config.input_mode,
        regions: config.regions,
        describes: config.scene && config.memory_days > 0,
        previousKey: sight.last_frame?.key,
        ...check,
      };
    },
    decide: (stored, tick, time) => {
      const { readAt, input } = tick;
      // A tick that another one overtook is not the one whose time is planned.
      const isOvertaken =
        stored.last_tick >= input.capture.tick || stored.generation > input.generation || isOver(stored);
      const { woken_at: wokenAt } = input.captured;
      const begun = isOvertaken
        ? { run: stored, now: readAt }
        : atTick(stored, readAt, mapWatchTimes, wokenAt);
      // The model may have taken a minute: the tick is decided at its end.
      const now = addSeconds(begun.now, ageSeconds(readAt, time));
      return planTick(begun.run, isOvertaken ? withoutInvalid(stored, tick) : tick, now, settings);
    },
    moments: listJudged,
    countsLate: ({ kind }) => kind === 'judged',
    pictures: ({ sight: { last_frame: last } }) =>
      last ? [{ key: last.key, isEvidence: last.evidence }] : [],
    evidence: listEvidence,
    expiringAlerts: (watch, { set }, now) => {
      const from = new Date(watch.next?.wait_until ?? now);
      const to = new Date(set.next?.wait_until ?? now);
      const { state } = set;
      const conditions = state && 'conditions' in state ? state.conditions : [];
      return conditions.flatMap(({ alert }) =>
        alert && isRefreshDue(alert.opened_at, from, to) ? [alert.alert_id] : [],
      );
    },
  };
}

/** Leaves out what a capture scanned of the time off schedule. */
function onSchedule(output: CaptureOutput, schedule: Schedule | null): CaptureOutput {
  if (output.kind !== 'captured' || schedule === null) return output;
  const { moments, scan, ...captured } = output;
  const isActive = (time: string) =>
    scheduleAt(schedule, momentTime(time, captured, newestTime(captured, output))).active;
  return {
    ...captured,
    ...(moments && { moments: moments.filter(({ captured_at: time }) => isActive(time)) }),
    ...(scan && { scan: { ...scan, quiet: scan.quiet.filter(isActive) } }),
  };
}

/** Returns true for the last scan of a span whose newest frame is after its end: that frame is not judged. */
function showsEnd(captured: Captured, output: CaptureOutput, schedule: Schedule | null): boolean {
  return [new Date(output.began_at), newestTime(captured, output)].every(
    (time) => !scheduleAt(schedule, time).active,
  );
}

function newestTime(captured: Captured, { began_at: beganAt }: Pick<CaptureOutput, 'began_at'>): Date {
  return frameTime(captured, new Date(beganAt), new Date(captured.seen.seen_at));
}

function readJudgement(
  captured: Captured,
  judgement: Judgement | undefined,
  modelPrice: CostSettings['modelPrice'],
  reserved: Reserved | undefined,
): WatchOutcome {
  if (judgement === undefined)
    return { kind: 'unavailable', message: 'The capture was removed before its check' };
  const { calls, ...judged } = judgement;
  return { kind: 'judged', captured, used: sumCalls(modelPrice, calls), reserved, ...judged };
}

function isOver({ state }: WatchRun): boolean {
  return state.causes.paused !== null;
}

/**
 * Leaves of an overtaken tick what another tick and the changes since its begin left valid; of one that nothing is
 * valid of, only its cost.
 */
function withoutInvalid(stored: WatchRun, tick: Tick<WatchOutcome>): Tick<WatchOutcome> {
  const { input, seen } = tick;
  const isValid = ({ since_generation: since = 0 }: ConditionState) => input.generation >= since;
  const valid = stored.state.conditions.filter(isValid);
  // Another tick has seen the stream since the capture began.
  const isOutdated = stored.seen?.seen_at !== input.capture.seen?.seen_at;
  if (isOutdated || valid.length === 0) return onlyItsCost(tick);
  if (seen.kind !== 'judged') return tick;
  // The model has answered, but as if about another text, which counts for no condition.
  const mark = (answers: readonly ConditionAnswer[]) =>
    answers.map((answer) =>
      valid.some(({ condition_id: id }) => id === answer.condition_id)
        ? answer
        : { ...answer, condition: '' },
    );
  const moments = seen.earlier.map((moment) => ({ ...moment, answers: mark(moment.answers) }));
  return { ...tick, seen: { ...seen, answers: mark(seen.answers), earlier: moments } };
}

/**
 * Drops what a tick saw: no picture counts twice, after a newer one, or for another question. The caller pays for its
 * calls.
 */
function onlyItsCost(tick: Tick<WatchOutcome>): Tick<WatchOutcome> {
  const { seen, input } = tick;
  const { began_at } = input.captured;
  return {
    ...tick,
    input: { ...input, captured: { kind: 'not_captured', began_at } },
    seen: {
      kind: 'no_capture',
      ...(seen.kind === 'judged' && { used: seen.used, reserved: seen.reserved }),
    },
  };
}

function planTick(
  watch: WatchRun,
  { input, seen, stretch, destinations }: Tick<WatchOutcome>,
  now: Date,
  settings: WatchSettings,
): RunChange {
  // A day that covers the newest frame alone is not exhausted.
  const newest = { earlier: 0, mode: watch.config.input_mode };
  const need = computeCost(planAllQuestions(watch), newest, settings);
  const maxLostWaitSeconds = computeMaxLostWait(watch, input, now, settings);
  const beganAt = seen.kind === 'no_capture' ? now : earlier(new Date(input.captured.began_at), now);
  const tick = { outcome: seen, need, stretch, maxLostWaitSeconds, at: beganAt };
  const { next, set, ...decision } = decideWatchTick(watch, tick, now, settings.createAlertId);
  const moments = createMoments(watch, seen, settings.judgedBy, { at: beganAt, now });
  const isKept = (frame: Sight['last_frame']) => moments.some(({ frame_key: key }) => key === frame?.key);
  const { last_frame: last } = set.sight;
  const sight = last && isKept(last) ? { ...set.sight, last_frame: { ...last, evidence: true } } : set.sight;
  const view = 'captured' in seen ? seen.captured.view : undefined;
  const plannedAt = watch.next?.wait_until ?? null;
  const unsure = listUnsure(seen, set.state.conditions);
  const signs = { plannedAt, stretch, destinations, view, unsure };
  const { health, news } = decideHealth(watch.state.health, watch.config, signs, now);
  const events: NewWatchEvent[] = [
    ...decision.events,
    ...news.map((data) => ({ type: 'watch_changed' as const, data: { status: set.status, ...data } })),
  ];
  return {
    runId: watch.run_id,
    expectedVersion: watch.version,
    set: {
      ...advanceRun(watch, next, input, now),
      ...set,
      sight,
      state: { ...set.state, health },
      sequence: watch.sequence + events.length,
    },
    events: toWatchEvents(events, watch, watch.sequence, now),
    alerts: decision.alerts,
    hours: decision.hours,
    ...(moments.length > 0 && { moments }),
  };
}

/**
 * Counts from the start of the attempt, so that a camera that hangs is tried as often as one that refuses. A platform
 * limits the requests for its pages.
 */
function computeMaxLostWait(
  { stream_url: streamUrl }: WatchRun,
  { captured }: TickInput,
  now: Date,
  { lostCameraSeconds: seconds }: WatchSettings,
): number {
  if (seconds === undefined || !isCamera(streamUrl)) return Infinity;
  const left = seconds - ageSeconds(captured.began_at, now);
  // A camera that responds to a probe and hangs in each capture would hold a turn all the time.
  return left > 0 ? Math.max(1, left) : Infinity;
}

/**
 * Lists copies of the frames of all that a tick reports: the newest one, another one of the clip, or that of an earlier
 * moment.
 */
function listEvidence({ sight }: WatchRun, seen: WatchOutcome, { events, set }: RunChange): Evidence[] {
  // The picture of an outdated tick is not the newest frame.
  const isNewest = 'captured' in seen && set.sight?.last_frame?.key === seen.captured.frame_key;
  const captured = isNewest ? seen.captured : null;
  const frameKey = captured?.frame_key ?? sight.last_frame?.key;
  if (frameKey === undefined) return [];
  const answers = seen.kind === 'judged' ? seen.answers : [];
  const keys = new Set(events.flatMap(({ data }) => ('frame_key' in data ? (data.frame_key ?? []) : [])));
  return [...keys].map((key) => {
    const pictureName = mediaName(key);
    const moment = captured?.moments?.find(({ frame_key: frame }) => mediaName(frame) === pictureName);
    if (moment) return { key, frame_key: moment.frame_key, clip_key: null };
    const shownAt = answers.map(({ verdict }) => verdict?.shown_at_seconds);
    const atSeconds = shownAt.find(
      (seconds) => seconds !== undefined && mediaName(toShownKey(frameKey, seconds)) === pictureName,
    );
    if (captured === null || atSeconds === undefined) return { key, frame_key: frameKey, clip_key: null };
    return { key, frame_key: frameKey, clip_key: captured.clip_key, atSeconds };
  });
}
