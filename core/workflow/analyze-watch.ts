import type { CoreDeps, Limits } from '../dependencies.ts';
import type { StoredWatch, WatchChange } from '../ports/watch-store.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { CaptureState } from '../records/capture.ts';
import type { DestinationState } from '../records/delivery.ts';
import type { NewWatchEvent } from '../records/watch-event.ts';
import { isCamera } from '../records/platform.ts';
import type { AnalyzeInput, WorkflowState } from '../records/workflow.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import { rules } from '../rules.ts';
import { leaseUntil } from '../tick/next-tick.ts';
import { addSeconds, ageSeconds } from '../time.ts';
import { readCheckMedia } from '../watch/read-media.ts';
import { askModel, groupQuestions } from '../watch/ask-model.ts';
import { budgetOnDay, reserve } from '../watch/budget.ts';
import type { Cost } from '../watch/budget.ts';
import { atWatchTick } from '../watch/clock-change.ts';
import { toWatchEvents } from '../watch/commit-watch.ts';
import { isRefreshDue } from '../watch/evidence.ts';
import { decideHealth } from '../watch/health.ts';
import { watchLog } from '../watch/watch-log.ts';
import { priceCall } from '../watch/model-price.ts';
import type { TokenPrice } from '../watch/model-price.ts';
import { watchWakeUpTime } from '../watch/next-watch-tick.ts';
import type { WatchOutcome } from '../watch/outcome.ts';
import { planAllQuestions, planQuestions, screenWatchCapture } from '../watch/questions.ts';
import type { Questions } from '../watch/questions.ts';
import { localDay } from '../watch/schedule.ts';
import { watchStatus } from '../watch/status.ts';
import { applyChange } from '../watch/stored-watch.ts';
import { storeShownFrame } from '../stream/shown-frame.ts';
import { decideWatchTick, findShownKey } from '../watch/tick.ts';
import type { CreateAlertId } from '../watch/tick.ts';
import { isOver } from './begin-watch.ts';
import { modelSeconds, planBurst } from './burst.ts';

export type AnalyzeWatchDeps = Pick<
  CoreDeps,
  | 'watches'
  | 'media'
  | 'meter'
  | 'vision'
  | 'executions'
  | 'queue'
  | 'pace'
  | 'log'
  | 'now'
  | 'usage'
  | 'cutFrame'
> & {
  limits: Pick<Limits, 'visionTimeoutSeconds' | 'lostCameraSeconds'>;
  createAlertId: CreateAlertId;
  deliveries: Pick<DeliveryStore, 'states'>;
  /** `null` if the price of the model is unknown: then a watch can have no budget in dollars. */
  modelPrice: TokenPrice | null;
};
type TickInput = Extract<AnalyzeInput, { operation: 'analyze' }>;
type Captured = Extract<WatchOutcome, { kind: 'judged' }>['captured'];

/**
 * Second half of a watch's tick: calls the model, decides, and commits state, events and alerts in one transaction. After a conflict with a
 * change by a caller it decides again with the same verdicts; those of changed conditions are dropped. A committed tick is not repeated.
 */
export async function analyzeWatchTick(
  input: TickInput,
  given: AnalyzeWatchDeps,
  signal?: AbortSignal,
): Promise<WorkflowState> {
  const visionTimeoutSeconds = modelSeconds(input, given.limits.visionTimeoutSeconds, given.now());
  const deps = { ...given, limits: { ...given.limits, visionTimeoutSeconds } };
  let outcome: WatchOutcome | undefined;
  const evidence = new Set<string>();
  return retryConflicts('The watch changed too often while its tick was to be committed', async () => {
    const found = await deps.watches.get(input.job_id);
    if (!found) await discard(evidence, input, deps);
    if (!found || isAbandoned(found, input)) return committed(stepAfter(found, input, deps.now(), true));
    const isDone = isOver(found, input.generation) || found.run.state.last_tick >= input.capture.tick;
    // A tick that another one overtook is not the one whose time is planned.
    const begunAt = deps.now();
    const begun = isDone ? { stored: found, now: begunAt } : atWatchTick(found, begunAt);
    const { stored } = begun;
    if (isDone && outcome?.kind !== 'judged') {
      await startGeneration(found, input, deps);
      return committed(stepAfter(found, input, deps.now()));
    }
    let current: WatchOutcome;
    if (outcome) current = outcome;
    else {
      const observed = await observe(stored, input, deps, signal);
      if ('kind' in observed) return conflict;
      current = outcome = observed.outcome;
      // A reservation has changed the stored watch.
      if (observed.hasReserved) return conflict;
    }
    const destinations = await readDestinations(stored, deps);
    // The model may have taken a minute: the tick is decided at its end.
    const now = addSeconds(begun.now, ageSeconds(begunAt, deps.now()));
    const change = planTick(stored, current, input, { destinations, now }, deps);
    for (const key of await keepEvidence(change, stored, input, deps)) evidence.add(key);
    await keepShownFrames(change, stored, current, deps);
    await refreshEvidence(change, stored, deps);
    if ((await deps.watches.commit(change)) !== 'committed') return conflict;
    const after = { watch: stored.watch, run: applyChange(stored.run, change) };
    await removeUnneeded(stored, after, input, deps);
    await countFrame(current, deps);
    report(after, current, deps);
    await startGeneration(after, input, deps);
    return committed(stepAfter(after, input, deps.now()));
  });
}

/** Returns the states of the destinations, or `null` if they cannot be read: a tick does not fail for them. */
async function readDestinations(
  { watch }: StoredWatch,
  { deliveries, log }: AnalyzeWatchDeps,
): Promise<DestinationState[] | null> {
  if (watch.config.destinations.length === 0) return [];
  try {
    return await deliveries.states({ run: 'watch', run_id: watch.watch_id });
  } catch (error) {
    watchLog(log, watch.watch_id).warning('States of destinations not read', { error: String(error) });
    return null;
  }
}

type Observed = { outcome: WatchOutcome; hasReserved: boolean } | typeof conflict;

async function observe(
  stored: StoredWatch,
  input: TickInput,
  deps: AnalyzeWatchDeps,
  signal?: AbortSignal,
): Promise<Observed> {
  const { watch, run } = stored;
  const record = { watch, state: run.state };
  const screening = screenWatchCapture(record, input.captured, deps.now());
  if (screening.kind !== 'fresh') return { outcome: screening, hasReserved: false };
  const { captured } = screening;
  const { budget } = watch.config;
  if (budget && budget.usd_per_day !== null && deps.modelPrice === null)
    return { outcome: { kind: 'not_asked', captured, why: 'price' }, hasReserved: false };
  const planned = planQuestions(record);
  const isEmpty = planned.joint.length + planned.separate.length === 0;
  const questions = isEmpty ? planAllQuestions(record) : planned;
  if (budget) {
    const reserved = await reserveCost(stored, computeCost(questions, deps), deps);
    if (reserved === 'outdated') return conflict;
    if (reserved === 'exhausted')
      return { outcome: { kind: 'not_asked', captured, why: 'budget' }, hasReserved: false };
  }
  return { outcome: await judge(stored, questions, captured, deps, signal), hasReserved: budget !== null };
}

/** Commits the worst case of the calls, so that a crash during them cannot exceed the budget. */
async function reserveCost(
  { watch, run }: StoredWatch,
  need: Cost,
  { watches, now }: AnalyzeWatchDeps,
): Promise<'reserved' | 'exhausted' | 'outdated'> {
  const { budget, schedule } = watch.config;
  const day = localDay(schedule?.time_zone ?? 'UTC', now());
  const before = budgetOnDay(budget, run.state.budget, day.date);
  const reservation = reserve(budget, before, run.state.last_tick + 1, need);
  if (reservation.kind === 'exhausted') return 'exhausted';
  const result = await watches.commit({
    watchId: watch.watch_id,
    expectedVersion: run.version,
    set: { state: { ...run.state, budget: reservation.budget } },
    events: [],
    alerts: [],
    hours: [],
  });
  return result === 'committed' ? 'reserved' : 'outdated';
}

async function judge(
  stored: StoredWatch,
  questions: Questions,
  captured: Captured,
  deps: AnalyzeWatchDeps,
  signal?: AbortSignal,
): Promise<WatchOutcome> {
  const media = await readCheckMedia({ watch: stored.watch, state: stored.run.state }, captured, deps);
  if (media === undefined)
    return { kind: 'unavailable', message: 'The capture was removed before its check' };
  const { calls, ...judged } = await askModel(questions, media, deps, signal);
  await deps.usage.record(stored.watch.caller, calls);
  const used = {
    calls: calls.length,
    micro_usd: calls.reduce((sum, tokens) => sum + priceCall(deps.modelPrice, tokens), 0),
    input_tokens: calls.reduce((sum, tokens) => sum + (tokens?.input_tokens ?? 0), 0),
    output_tokens: calls.reduce((sum, tokens) => sum + (tokens?.output_tokens ?? 0), 0),
  };
  return { kind: 'judged', captured, used, ...judged };
}

function computeCost(questions: Questions, { vision, modelPrice }: AnalyzeWatchDeps): Cost {
  const calls = groupQuestions(questions, vision.judgeConditions !== undefined).length;
  return { calls, micro_usd: calls * priceCall(modelPrice, null) };
}

/** Plans the one transaction of a tick. The last tick of a generation, one before a long wait, and one that a change overtook increments the generation. */
function planTick(
  { watch, run }: StoredWatch,
  outcome: WatchOutcome,
  input: TickInput,
  { destinations, now }: { destinations: readonly DestinationState[] | null; now: Date },
  deps: AnalyzeWatchDeps,
): WatchChange {
  const record = { watch, state: run.state };
  const need = computeCost(planAllQuestions(record), deps);
  const stretch = deps.pace.stretch(watch.watch_id, watch.config.interval_seconds);
  const maxLostWaitSeconds = computeMaxLostWait(watch, input, now, deps);
  const tick = { outcome, need, stretch, maxLostWaitSeconds };
  const decision = decideWatchTick(record, tick, now, deps.createAlertId);
  const { next } = decision.state;
  const status = watchStatus(decision.state.causes);
  const plannedAt = run.state.next?.wait_until ?? null;
  const signs = { plannedAt, stretch, destinations };
  const { health, news } = decideHealth(run.state.health, watch.config, signs, now);
  const events: NewWatchEvent[] = [
    ...decision.events,
    ...news.map((data) => ({ type: 'watch_changed' as const, data: { status, ...data } })),
  ];
  // A change began another generation during the model call. That one may wait for longer than this tick plans, so a newer one takes its place.
  const isOvertaken = run.generation !== input.generation;
  const handsOver =
    next?.done === false &&
    run.state.causes.paused === null &&
    (isOvertaken ||
      decision.state.execution_ticks >= rules.ticksPerExecution ||
      Date.parse(next.wait_until) - now.getTime() >= rules.handOverWaitSeconds * 1000);
  const handedOver = handsOver
    ? {
        execution_ticks: 0,
        burst: 0,
        handed_over: isOvertaken ? null : captureStateAfter(input, next.looked).motion,
      }
    : {};
  return {
    watchId: watch.watch_id,
    expectedVersion: run.version,
    set: {
      state: { ...decision.state, health, ...handedOver },
      status,
      sequence: run.sequence + events.length,
      lease_until: leaseUntil(new Date(next?.wait_until ?? now)),
      ...(handsOver ? { generation: run.generation + 1 } : {}),
    },
    events: toWatchEvents(events, watch, run.sequence, now),
    alerts: decision.alerts,
    hours: decision.hours,
  };
}

/** Counts from the start of the attempt, so that a camera that hangs is tried as often as one that refuses. A platform limits the requests for its pages. */
function computeMaxLostWait(
  { stream_url: streamUrl }: StoredWatch['watch'],
  { captured }: TickInput,
  now: Date,
  { limits: { lostCameraSeconds: seconds } }: AnalyzeWatchDeps,
): number {
  if (seconds === undefined || !isCamera(streamUrl)) return Infinity;
  return Math.max(1, seconds - ageSeconds(captured.began_at, now));
}

async function startGeneration(
  { watch, run }: StoredWatch,
  { generation }: TickInput,
  { executions }: AnalyzeWatchDeps,
): Promise<void> {
  if (run.generation <= generation || run.state.causes.paused) return;
  await executions.start({ job_id: watch.watch_id, generation: run.generation });
}

/** Returns true if a newer Begin took over the ticks of this generation. */
function isAbandoned({ run }: StoredWatch, { burst, generation }: TickInput): boolean {
  return burst !== undefined && run.generation === generation && run.state.burst > burst;
}

function stepAfter(
  stored: StoredWatch | undefined,
  input: TickInput,
  now: Date,
  ended = false,
): WorkflowState {
  const next = stored?.run.state.next ?? null;
  const over = ended || !stored || isOver(stored, input.generation) || (next?.done ?? false);
  const wakeAt = stored ? watchWakeUpTime(stored.run.state, stored.watch.config, now) : new Date(0);
  return {
    job_id: input.job_id,
    generation: input.generation,
    ...planBurst(input, over, wakeAt, now),
    wait_until: wakeAt.toISOString(),
    capture: {
      kind: 'watch',
      source_id: stored?.watch.source_id ?? input.capture.source_id,
      tick: (stored?.run.state.last_tick ?? input.capture.tick) + 1,
      closing: next?.closing ?? true,
      resolve_again: next?.resolve_again ?? false,
      ...captureStateAfter(input, next?.looked ?? false),
    },
  };
}

function captureStateAfter({ captured, capture }: TickInput, looked: boolean): CaptureState {
  if (captured.kind !== 'captured') return { seen: capture.seen, motion: capture.motion };
  return { seen: captured.seen, motion: looked ? captured.motion_if_looked : captured.motion_if_skipped };
}

async function countFrame({ kind }: WatchOutcome, { meter }: AnalyzeWatchDeps): Promise<void> {
  if (kind === 'judged' || kind === 'skipped')
    await meter.count({ kind: 'watch_frame', skipped: kind === 'skipped' });
}

/** Removes what a tick has stored for a watch that was deleted meanwhile. */
async function discard(
  evidence: ReadonlySet<string>,
  { captured }: TickInput,
  { media }: AnalyzeWatchDeps,
): Promise<void> {
  const taken = captured.kind === 'captured' ? [captured.frame_key, captured.clip_key] : [];
  const keys = [...evidence, ...taken].filter((key) => key !== null);
  if (keys.length > 0) await media.remove(keys);
}

/** Copies the newest frame as evidence of what a tick reports. Returns the keys of the copies. An alert without its frame is better than none. */
async function keepEvidence(
  { events }: WatchChange,
  { watch, run }: StoredWatch,
  { captured }: TickInput,
  { media, log }: AnalyzeWatchDeps,
): Promise<Set<string>> {
  const key = captured.kind === 'captured' ? captured.frame_key : run.state.last_frame?.key;
  const copies = new Set(events.flatMap(({ data }) => ('frame_key' in data ? (data.frame_key ?? []) : [])));
  if (copies.size === 0 || key === undefined) return copies;
  try {
    const frame = await media.get(key);
    for (const copy of copies) if (frame) await media.put(copy, frame, 'image/jpeg');
  } catch (error) {
    watchLog(log, watch.watch_id).warning('Evidence not stored', { error: String(error) });
  }
  return copies;
}

/** Stores the frames of the clip that opened alerts refer to. */
async function keepShownFrames(
  { alerts }: WatchChange,
  { watch }: StoredWatch,
  outcome: WatchOutcome,
  deps: AnalyzeWatchDeps,
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
      watchLog(deps.log, watch.watch_id).warning('Evidence not stored', { error: String(error) });
    }
  }
}

/** Stores the evidence of alerts that stay open again, so that it does not expire before them. */
async function refreshEvidence(
  { set }: WatchChange,
  { watch, run }: StoredWatch,
  { watches, media, log, now }: AnalyzeWatchDeps,
): Promise<void> {
  const from = new Date(run.state.next?.wait_until ?? now());
  const to = new Date(set.state?.next?.wait_until ?? now());
  for (const { alert } of set.state?.conditions ?? []) {
    if (!alert || !isRefreshDue(alert.opened_at, from, to)) continue;
    try {
      const key = (await watches.alert(alert.alert_id, now()))?.frame_key ?? null;
      const frame = key === null ? undefined : await media.get(key);
      if (key !== null && frame) await media.put(key, frame, 'image/jpeg');
    } catch (error) {
      watchLog(log, watch.watch_id).warning('Evidence not refreshed', { error: String(error) });
    }
  }
}

/** Deletes the clip and the frame before this one. */
async function removeUnneeded(
  { run: before }: StoredWatch,
  { watch, run: after }: StoredWatch,
  { captured }: TickInput,
  { media, log }: AnalyzeWatchDeps,
): Promise<void> {
  const kept = after.state.last_frame?.key;
  const last = before.state.last_frame;
  const taken = captured.kind === 'captured' ? [captured.frame_key, captured.clip_key] : [];
  const candidates = [...taken, last?.key];
  const keys = candidates.filter((key): key is string => typeof key === 'string' && key !== kept);
  if (keys.length === 0) return;
  await media.remove(keys).catch((error: unknown) => {
    watchLog(log, watch.watch_id).warning('Media not removed', { count: keys.length, error: String(error) });
  });
}

function report({ watch, run }: StoredWatch, outcome: WatchOutcome, deps: AnalyzeWatchDeps): void {
  const log = watchLog(deps.log, watch.watch_id);
  const fields = { tick: run.state.last_tick, outcome: outcome.kind, status: run.status };
  if (outcome.kind === 'judged' && outcome.failure)
    log.warning('Check failed', { ...fields, remediation: outcome.failure.remediation });
  else if (outcome.kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: outcome.message, remediation: outcome.remediation });
  else log.debug('Tick committed', fields);
}
