import type { CoreDeps, Limits } from '../dependencies.ts';
import type { WatchChange } from '../ports/watch-store.ts';
import type { Watch } from '../records/watch.ts';
import type { WatchRun } from '../records/watch-run.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { DestinationState } from '../records/delivery.ts';
import type { NewWatchEvent } from '../records/watch-event.ts';
import { isCamera } from '../records/platform.ts';
import type { CaptureOutput, TickInput } from '../records/workflow.ts';
import { conflict } from '../retry-conflicts.ts';
import { advanceRun } from '../tick/advance-run.ts';
import { addSeconds, ageSeconds, earlier } from '../time.ts';
import { readCheckMedia } from '../policies/watch/read-media.ts';
import { askModel, groupQuestions } from '../policies/watch/ask-model.ts';
import { budgetOnDay, reserve } from '../policies/watch/budget.ts';
import type { Cost } from '../policies/watch/budget.ts';
import { mapWatchTimes } from '../policies/watch/clock-change.ts';
import { toWatchEvents } from '../watch/commit-watch.ts';
import { isRefreshDue } from '../policies/watch/evidence.ts';
import { decideHealth } from '../policies/watch/health.ts';
import { watchLog } from '../watch/watch-log.ts';
import { priceCall } from '../policies/watch/model-price.ts';
import type { TokenPrice } from '../policies/watch/model-price.ts';
import { watchWakeUpTime } from '../policies/watch/next-tick.ts';
import type { WatchOutcome } from '../policies/watch/outcome.ts';
import { planAllQuestions, planQuestions, screenWatchCapture } from '../policies/watch/questions.ts';
import type { Questions } from '../policies/watch/questions.ts';
import { localDay, scheduleAt } from '../policies/watch/schedule.ts';
import { applyChange } from '../watch/stored-watch.ts';
import { atTick } from '../sight/clock-change.ts';
import { storeShownFrame } from '../stream/shown-frame.ts';
import { decideWatchTick, findShownKey } from '../policies/watch/tick.ts';
import type { CreateAlertId } from '../policies/watch/tick.ts';
import type { Observed, RunKind } from './run-kind.ts';

export type WatchRunDeps = Pick<
  CoreDeps,
  'watches' | 'media' | 'meter' | 'vision' | 'log' | 'now' | 'usage' | 'cutFrame'
> & {
  limits: Pick<Limits, 'visionTimeoutSeconds' | 'lostCameraSeconds'>;
  createAlertId: CreateAlertId;
  deliveries: Pick<DeliveryStore, 'states'>;
  /** `null` if the price of the model is unknown: then a watch can have no budget in dollars. */
  modelPrice: TokenPrice | null;
};
type Captured = Extract<WatchOutcome, { kind: 'judged' }>['captured'];

/** Runs of watches. */
export function createWatchRuns(deps: WatchRunDeps): RunKind<WatchRun, WatchOutcome, WatchChange> {
  return {
    find: async (id) => deps.watches.get(id, deps.now()),
    isOver: ({ state }) => state.causes.paused !== null,
    intervalSeconds: ({ config }) => config.interval_seconds,
    wakeAt: watchWakeUpTime,
    observe: async ({ stored: found, at }, input, signal) => {
      const { run } = atTick(found, at, mapWatchTimes);
      return observe(run, input, deps, signal);
    },
    complete: async (_, outcome) => outcome,
    countsLate: ({ kind }) => kind === 'judged',
    plan: async ({ stored: found, at }, outcome, { input, stretch }) => {
      // A tick that another one overtook is not the one whose time is planned.
      const isOvertaken = found.last_tick >= input.capture.tick || isOver(found, input.generation);
      const begun = isOvertaken ? { run: found, now: at } : atTick(found, at, mapWatchTimes);
      const destinations = await readDestinations(begun.run, deps);
      // The model may have taken a minute: the tick is decided at its end.
      const now = addSeconds(begun.now, ageSeconds(at, deps.now()));
      const counted = isOvertaken ? withoutKnownPicture(begun.run, outcome) : outcome;
      return planTick(begun.run, counted, input, { destinations, stretch, now }, deps);
    },
    storeEvidence: async (stored, outcome, change, input) => {
      const keys = await keepEvidence(change, stored, input, deps);
      await keepShownFrames(change, stored, outcome, deps);
      await refreshEvidence(change, stored, deps);
      return [...keys];
    },
    commit: async (change) => deps.watches.commit(change),
    after: applyChange,
    unreferenced: listUnneeded,
    report: async (stored, outcome) => {
      await countFrame(outcome, deps);
      report(stored, outcome, deps);
    },
    begin: async (stored, bursts) => beginWatch(stored, bursts, deps),
  };
}

/** Drops the verdicts of a picture that the tick of another generation has judged meanwhile: its calls count, the picture counts once. */
function withoutKnownPicture(watch: WatchRun, outcome: WatchOutcome): WatchOutcome {
  if (outcome.kind !== 'judged') return outcome;
  const { segment } = outcome.captured.seen.position;
  const isKnown = segment !== null && watch.seen?.position.segment === segment;
  return isKnown ? { ...outcome, answers: [] } : outcome;
}

/** Returns true if this execution has no further tick. */
function isOver(watch: WatchRun, generation: number): boolean {
  return watch.generation > generation || watch.state.causes.paused !== null;
}

async function beginWatch(watch: WatchRun, bursts: boolean, { watches, now }: WatchRunDeps) {
  const closing = !scheduleAt(watch.config.schedule, now()).active;
  if (!bursts) return { stored: watch, closing };
  const change = { set: { burst: watch.burst + 1 }, events: [] };
  const result = await watches.commit({
    ...change,
    runId: watch.run_id,
    expectedVersion: watch.version,
  });
  return result === 'committed' ? { stored: applyChange(watch, change), closing } : undefined;
}

/** Returns the states of the destinations, or `null` if they cannot be read: a tick does not fail for them. */
async function readDestinations(
  watch: WatchRun,
  { deliveries, log }: WatchRunDeps,
): Promise<DestinationState[] | null> {
  if (watch.config.destinations.length === 0) return [];
  try {
    return await deliveries.states({ run: 'watch', run_id: watch.run_id });
  } catch (error) {
    watchLog(log, watch.run_id).warning('States of destinations not read', { error: String(error) });
    return null;
  }
}

async function observe(
  stored: WatchRun,
  input: TickInput,
  deps: WatchRunDeps,
  signal?: AbortSignal,
): Promise<Observed<WatchOutcome>> {
  const screening = screenWatchCapture(stored, input.captured, deps.now());
  if (screening.kind !== 'fresh') return { outcome: screening };
  const { captured } = screening;
  const { budget } = stored.config;
  if (budget && budget.usd_per_day !== null && deps.modelPrice === null)
    return { outcome: { kind: 'not_asked', captured, why: 'price' } };
  const planned = planQuestions(stored);
  const isEmpty = planned.joint.length + planned.separate.length === 0;
  const questions = isEmpty ? planAllQuestions(stored) : planned;
  if (budget) {
    const reserved = await reserveCost(stored, computeCost(questions, deps), deps);
    if (reserved === 'outdated') return conflict;
    if (reserved === 'exhausted') return { outcome: { kind: 'not_asked', captured, why: 'budget' } };
  }
  // A reservation has changed the stored watch.
  return { outcome: await judge(stored, questions, captured, deps, signal), again: budget !== null };
}

/** Commits the worst case of the calls, so that a crash during them cannot exceed the budget. */
async function reserveCost(
  watch: WatchRun,
  need: Cost,
  { watches, now }: WatchRunDeps,
): Promise<'reserved' | 'exhausted' | 'outdated'> {
  const { budget, schedule } = watch.config;
  const day = localDay(schedule?.time_zone ?? 'UTC', now());
  const before = budgetOnDay(budget, watch.state.budget, day.date);
  const reservation = reserve(budget, before, watch.last_tick + 1, need);
  if (reservation.kind === 'exhausted') return 'exhausted';
  const result = await watches.commit({
    runId: watch.run_id,
    expectedVersion: watch.version,
    // The times may have moved with the clock, all or none of them.
    set: { state: { ...watch.state, budget: reservation.budget }, next: watch.next, sight: watch.sight },
    events: [],
  });
  return result === 'committed' ? 'reserved' : 'outdated';
}

async function judge(
  stored: WatchRun,
  questions: Questions,
  captured: Captured,
  deps: WatchRunDeps,
  signal?: AbortSignal,
): Promise<WatchOutcome> {
  const media = await readCheckMedia(stored, captured, deps);
  if (media === undefined)
    return { kind: 'unavailable', message: 'The capture was removed before its check' };
  const { calls, ...judged } = await askModel(questions, media, deps, signal);
  await deps.usage.record(stored.caller, calls);
  const used = {
    calls: calls.length,
    micro_usd: calls.reduce((sum, tokens) => sum + priceCall(deps.modelPrice, tokens), 0),
    input_tokens: calls.reduce((sum, tokens) => sum + (tokens?.input_tokens ?? 0), 0),
    output_tokens: calls.reduce((sum, tokens) => sum + (tokens?.output_tokens ?? 0), 0),
  };
  return { kind: 'judged', captured, used, ...judged };
}

function computeCost(questions: Questions, { vision, modelPrice }: WatchRunDeps): Cost {
  const calls = groupQuestions(questions, vision.judgeConditions !== undefined).length;
  return { calls, micro_usd: calls * priceCall(modelPrice, null) };
}

/** Plans the one transaction of a tick. */
function planTick(
  watch: WatchRun,
  outcome: WatchOutcome,
  input: TickInput,
  {
    destinations,
    stretch,
    now,
  }: { destinations: readonly DestinationState[] | null; stretch: number; now: Date },
  deps: WatchRunDeps,
): WatchChange {
  const need = computeCost(planAllQuestions(watch), deps);
  const maxLostWaitSeconds = computeMaxLostWait(watch, input, now, deps);
  const at = outcome.kind === 'no_capture' ? now : earlier(new Date(input.captured.began_at), now);
  const tick = { outcome, need, stretch, maxLostWaitSeconds, at };
  const decision = decideWatchTick(watch, tick, now, deps.createAlertId);
  const { next, set } = decision;
  const plannedAt = watch.next?.wait_until ?? null;
  const signs = { plannedAt, stretch, destinations };
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
      state: { ...set.state, health },
      sequence: watch.sequence + events.length,
    },
    events: toWatchEvents(events, watch, watch.sequence, now),
    alerts: decision.alerts,
    hours: decision.hours,
  };
}

/** Counts from the start of the attempt, so that a camera that hangs is tried as often as one that refuses. A platform limits the requests for its pages. */
function computeMaxLostWait(
  { stream_url: streamUrl }: Watch,
  { captured }: TickInput,
  now: Date,
  { limits: { lostCameraSeconds: seconds } }: WatchRunDeps,
): number {
  if (seconds === undefined || !isCamera(streamUrl)) return Infinity;
  const left = seconds - ageSeconds(captured.began_at, now);
  // A camera that responds to a probe and hangs in each capture would hold a turn all the time.
  return left > 0 ? Math.max(1, left) : Infinity;
}

async function countFrame({ kind }: WatchOutcome, { meter }: WatchRunDeps): Promise<void> {
  if (kind === 'judged' || kind === 'skipped')
    await meter.count({ kind: 'watch_frame', skipped: kind === 'skipped' });
}

/** Copies the newest frame as evidence of what a tick reports. Returns the keys of the copies. An alert without its frame is better than none. */
async function keepEvidence(
  { events }: WatchChange,
  watch: WatchRun,
  { captured }: TickInput,
  { media, log }: WatchRunDeps,
): Promise<Set<string>> {
  const key = captured.kind === 'captured' ? captured.frame_key : watch.sight.last_frame?.key;
  const copies = new Set(events.flatMap(({ data }) => ('frame_key' in data ? (data.frame_key ?? []) : [])));
  if (copies.size === 0 || key === undefined) return copies;
  try {
    const frame = await media.get(key);
    for (const copy of copies) if (frame) await media.put(copy, frame, 'image/jpeg');
  } catch (error) {
    watchLog(log, watch.run_id).warning('Evidence not stored', { error: String(error) });
  }
  return copies;
}

/** Stores the frames of the clip that opened alerts refer to. */
async function keepShownFrames(
  { alerts = [] }: WatchChange,
  watch: WatchRun,
  outcome: WatchOutcome,
  deps: WatchRunDeps,
): Promise<void> {
  if (outcome.kind !== 'judged') return;
  const opened = new Set(alerts.map((change) => (change.kind === 'open' ? change.alert.frame_key : null)));
  for (const { verdict } of outcome.answers) {
    const atSeconds = verdict?.shown_at_seconds;
    const key = verdict && findShownKey(verdict, outcome.captured, watch.config.retention_days);
    if (atSeconds === undefined || !key || !opened.delete(key)) continue;
    try {
      await storeShownFrame(key, outcome.captured, atSeconds, deps);
    } catch (error) {
      watchLog(deps.log, watch.run_id).warning('Evidence not stored', { error: String(error) });
    }
  }
}

/** Stores the evidence of alerts that stay open again, so that it does not expire before them. */
async function refreshEvidence(
  { set }: WatchChange,
  watch: WatchRun,
  { watches, media, log, now }: WatchRunDeps,
): Promise<void> {
  const from = new Date(watch.next?.wait_until ?? now());
  const to = new Date(set.next?.wait_until ?? now());
  for (const { alert } of set.state?.conditions ?? []) {
    if (!alert || !isRefreshDue(alert.opened_at, from, to)) continue;
    try {
      const key = (await watches.alert(alert.alert_id, now()))?.frame_key ?? null;
      const frame = key === null ? undefined : await media.get(key);
      if (key !== null && frame) await media.put(key, frame, 'image/jpeg');
    } catch (error) {
      watchLog(log, watch.run_id).warning('Evidence not refreshed', { error: String(error) });
    }
  }
}

/** Returns the keys of the clip and of the frame before this one. */
function listUnneeded(before: WatchRun, after: WatchRun, captured: CaptureOutput) {
  const kept = after.sight.last_frame?.key;
  const taken = captured.kind === 'captured' ? [captured.frame_key, captured.clip_key] : [];
  return [...taken, before.sight.last_frame?.key].filter(
    (key): key is string => typeof key === 'string' && key !== kept,
  );
}

function report(watch: WatchRun, outcome: WatchOutcome, deps: WatchRunDeps): void {
  const log = watchLog(deps.log, watch.run_id);
  const fields = { tick: watch.last_tick, outcome: outcome.kind, status: watch.status };
  if (outcome.kind === 'judged' && outcome.failure)
    log.warning('Check failed', { ...fields, remediation: outcome.failure.remediation });
  else if (outcome.kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: outcome.message, remediation: outcome.remediation });
  else log.debug('Tick committed', fields);
}
