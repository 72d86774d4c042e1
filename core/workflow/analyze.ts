import type { AsCaller } from '../ports/callers.ts';
import type { CoreDeps, Limits } from '../dependencies.ts';
import { TransientError } from '../errors.ts';
import { summarizeWindows, type SummaryDeps } from '../policies/digest/summarize-windows.ts';
import type { Check, CommittedTick, Evidence, Observation, Policy, Tick, Work } from '../policies/policy.ts';
import { runLog, type Log } from '../ports/observability.ts';
import { toLogKey, type Run } from '../records/run.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { Executions } from '../ports/executions.ts';
import type { Meter } from '../ports/usage.ts';
import type { RunStore, RunChange } from '../ports/runs.ts';
import { applyRunChange } from '../event/stored-run.ts';
import type { DestinationState } from '../records/delivery.ts';
import type { ClosureResult } from '../records/window-closure.ts';
import type { ModelCall } from '../records/vision.ts';
import type { TickInput, WorkflowState, BeginInput } from '../records/workflow.ts';
import { rules } from '../rules.ts';
import { askModel, type Judgement } from '../tick/ask-model.ts';
import { readCheckMedia, type MomentMedia } from '../tick/read-media.ts';
import {
  listReferred,
  listTaken,
  refreshEvidence,
  removeMedia,
  removeOutdated,
  removeUnneeded,
  storeEvidence,
} from './tick-media.ts';
import { captureStateAfter } from '../tick/advance-run.ts';
import { planBurst } from './burst.ts';

export type AnalyzeDeps = SummaryDeps &
  Pick<CoreDeps, 'pace' | 'now' | 'cutFrame'> & {
    runs: Pick<RunStore, 'get' | 'commit' | 'events' | 'alert'>;
    executions: Pick<Executions, 'start'>;
    meter: Pick<Meter, 'count'>;
    deliveries: Pick<DeliveryStore, 'states'>;
    limits: Pick<Limits, 'visionTimeoutSeconds'>;
    /** Absent if the model needs no order of callers. */
    asCaller?: AsCaller;
    /** Receives each committed tick; absent in a service. */
    observe?: (tick: CommittedTick) => Promise<void>;
  };

/** A tick under way. */
type TickContext<R extends Run, Seen extends Observation> = {
  policy: Policy<R, Seen>;
  input: TickInput;
  deps: AnalyzeDeps;
  log: Log;
  signal: AbortSignal | undefined;
};

/** Observation of a tick. `stretch`: factor of the interval in an overload, else 1. */
type Observed<Seen> = { seen: Seen; askedAt: Date; stretch: number };

/** Work of a tick whose cost is reserved, with its media: undefined if it needs none or they were removed. */
type ReservedWork<R, Seen> = { run: R; work: Work<Seen>; media: MomentMedia | undefined };

/**
 * Second half of a tick, the same for every policy: reserves the cost of a check, calls the model if the capture needs
 * it, decides, and commits the tick with all that follows from it in one transaction. After a conflict it decides again
 * with what it saw. A repetition is safe: a committed tick returns the stored result. `first` is the run as it was read
 * for its policy.
 */
export async function analyze<R extends Run, Seen extends Observation>(
  first: R,
  policy: Policy<R, Seen>,
  input: TickInput,
  deps: AnalyzeDeps,
  signal?: AbortSignal,
): Promise<WorkflowState> {
  const tick = { policy, input, deps, log: runLog(deps.log, toLogKey(first)), signal };
  const stored: Evidence[] = [];
  let run: R | undefined = first;
  let observed: Observed<Seen> | undefined;
  for (let attempt = 0; attempt < rules.maxCommitAttempts; attempt += 1) {
    if (attempt > 0) run = await readAgain(tick);
    if (!run) return discardTick(input, deps, stored);
    const readAt = deps.now();
    if (!isStillDue(run, observed?.seen, tick)) {
      await removeOutdated(stored, [], first, input.captured, deps, tick.log);
      return finish(run, tick);
    }
    if (!observed) {
      const reserved = await reserve(run, readAt, tick);
      if (!reserved) continue;
      run = reserved.run;
      const seen = await judge(reserved, tick);
      observed = { seen, askedAt: readAt, stretch: deps.pace.stretch(run, policy.interval(run)) };
    }
    const decision = await decide(run, { ...observed, input, readAt }, tick);
    stored.push(...decision.evidence);
    await storeEvidence(decision.evidence, deps, tick.log);
    await refreshEvidence(decision.expiring, deps, tick.log);
    const change = await commitTick(decision.change, deps, tick.log);
    if (!change) continue;
    const moments = policy.moments?.(observed.seen) ?? [];
    await deps.observe?.({ input, seen: observed.seen, moments, change });
    const after = applyRunChange(run, change);
    const kept = [...policy.pictures(after), ...listReferred(change)];
    await removeUnneeded(policy.pictures(run), kept, input.captured, deps, tick.log);
    await removeOutdated(stored, kept, first, input.captured, deps, tick.log);
    await reportTick(after, observed.seen, decision.closed, deps, tick.log);
    return finish(after, tick);
  }
  throw new TransientError('The run changed too often while its tick was to be committed');
}

async function readAgain<R extends Run, Seen extends Observation>({
  policy,
  input,
  deps,
}: TickContext<R, Seen>): Promise<R | undefined> {
  const run = await deps.runs.get(input.run_id, deps.now());
  return run && policy.owns(run) ? run : undefined;
}

/**
 * Returns false if another tick, a newer generation or the end of the run came before this tick, unless what it saw
 * counts late.
 */
function isStillDue<R extends Run, Seen extends Observation>(
  run: R,
  seen: Seen | undefined,
  { policy, input }: TickContext<R, Seen>,
): boolean {
  if (seen && policy.countsLate(seen)) return true;
  if (!seen && isAbandoned(run, input)) return false;
  return !policy.isOver(run) && run.generation <= input.generation && run.last_tick < input.capture.tick;
}

/** Plans the work of a tick, and commits the worst case of its cost. Returns undefined after a conflict. */
async function reserve<R extends Run, Seen extends Observation>(
  run: R,
  readAt: Date,
  { policy, input, deps }: TickContext<R, Seen>,
): Promise<ReservedWork<R, Seen> | undefined> {
  const work = policy.work(run, input.captured, readAt);
  if (work.kind === 'seen') return { run, work, media: undefined };
  const media = await readCheckMedia(work, deps);
  // A capture that was removed before has no call to reserve.
  if (!media || !work.reservation) return { run, work, media };
  if ((await deps.runs.commit(work.reservation)) !== 'committed') return undefined;
  return { run: applyRunChange(run, work.reservation), work, media };
}

async function judge<R extends Run, Seen extends Observation>(
  { run, work, media }: ReservedWork<R, Seen>,
  tick: TickContext<R, Seen>,
): Promise<Seen> {
  if (work.kind === 'seen') return work.seen;
  return work.judged(media && (await callModel(work, media, run, tick)));
}

/** Calls the model. Counts its calls also if the task is aborted, and made again. */
async function callModel<R extends Run, Seen extends Observation>(
  { questions }: Check,
  media: MomentMedia,
  { caller }: R,
  { deps, signal }: TickContext<R, Seen>,
): Promise<Judgement> {
  const modelCalls: ModelCall[] = [];
  const ask = async () => askModel(questions, media, deps, signal, modelCalls);
  try {
    return await (deps.asCaller?.(caller, ask) ?? ask());
  } finally {
    await deps.usage.record(caller, modelCalls);
  }
}

/** Decides the tick, with the summaries of the windows that it closes. */
async function decide<R extends Run, Seen extends Observation>(
  run: R,
  observed: Observed<Seen> & Pick<Tick<Seen>, 'input' | 'readAt'>,
  { policy, deps, log, signal }: TickContext<R, Seen>,
) {
  const windows = policy.windows?.(run, observed, deps.now());
  const timeout = { seconds: deps.limits.visionTimeoutSeconds, signal };
  const closed = windows && (await summarizeWindows(windows.job, windows.closing, deps, timeout));
  const destinations = await readDestinations(run, deps, log);
  const change = policy.decide(run, { ...observed, closed, destinations }, deps.now());
  return {
    change,
    closed,
    evidence: policy.evidence(run, observed.seen, change),
    expiring: policy.expiringAlerts?.(run, change, deps.now()) ?? [],
  };
}

/** Returns the states of the destinations, or `null` if they cannot be read: a tick does not fail for them. */
async function readDestinations(
  { run_id, config }: Run,
  { deliveries }: Pick<AnalyzeDeps, 'deliveries'>,
  log: Log,
): Promise<DestinationState[] | null> {
  if (!('destinations' in config) || config.destinations.length === 0) return [];
  try {
    return await deliveries.states({ run: 'watch', run_id });
  } catch (error) {
    log.warning('States of destinations not read', { error: String(error) });
    return null;
  }
}

async function reportTick(
  run: Run,
  seen: Observation,
  closed: ClosureResult | undefined,
  { meter }: { meter: Pick<Meter, 'count'> },
  log: Log,
): Promise<void> {
  if (run.policy === 'watch' && (seen.kind === 'judged' || seen.kind === 'skipped'))
    await meter.count({ kind: 'watch_frame', skipped: seen.kind === 'skipped' });
  const fields = { tick: run.last_tick, outcome: seen.kind, status: run.status };
  if (closed?.result.kind === 'missed')
    log.warning('Summary failed', { ...fields, remediation: closed.result.failure.remediation });
  const { kind, failure, message = '', remediation = '' } = seen;
  if (failure) log.warning('Check failed', { ...fields, remediation: failure.remediation });
  else if (kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: message, remediation });
  else log.debug('Tick committed', fields);
  if ('reason' in run && run.reason) log.info('Job ended', { status: run.status, reason: run.reason });
}

/** Starts the next generation if the run was handed over, and returns the workflow state after the tick. */
async function finish<R extends Run, Seen extends Observation>(
  run: R,
  { policy, input, deps }: TickContext<R, Seen>,
): Promise<WorkflowState> {
  if (!policy.isOver(run)) await startNextGeneration(run, input, deps);
  return stateAfterTick(run, policy, input, deps.now());
}

/** Removes what a tick of a run that is gone has stored, and returns the workflow state after it. */
export async function discardTick(
  input: TickInput,
  deps: Pick<AnalyzeDeps, 'media' | 'log' | 'now'>,
  stored: readonly Evidence[] = [],
): Promise<WorkflowState> {
  await removeMedia([...stored.map(({ key }) => key), ...listTaken(input.captured)], deps, deps.log);
  return goneState(input, deps.now());
}

/**
 * Starts the execution of the current generation if the run was handed over from `generation`. Has no effect if it was
 * started before.
 */
export async function startNextGeneration(
  { run_id, generation }: Run,
  before: { generation: number },
  { executions }: { executions: Pick<Executions, 'start'> },
): Promise<void> {
  if (generation > before.generation) await executions.start({ run_id: run_id, generation });
}

type Deps = { runs: Pick<RunStore, 'commit'>; meter: Pick<Meter, 'count'> };

/**
 * Commits a tick, without its moments if it cannot be stored with them: events and alerts come before a memory. Returns
 * what is stored; undefined after a conflict. Throws `TransientError`.
 */
async function commitTick<Change extends RunChange>(
  change: Change,
  { runs, meter }: Deps,
  log: Log,
): Promise<Change | undefined> {
  const count = change.moments?.length ?? 0;
  try {
    return (await runs.commit(change)) === 'committed' ? change : undefined;
  } catch (error) {
    if (!(error instanceof TransientError) || count === 0) throw error;
    const rest = { ...change, moments: [] };
    if ((await runs.commit(rest)) !== 'committed') return undefined;
    log.warning('Moments dropped, since they could not be stored', { count, error: String(error) });
    await meter.count({ kind: 'moments_dropped', count });
    return rest;
  }
}

/** Returns the workflow state in which a run continues where its last tick ended. */
export function stateAtBegin<R extends Run, Seen extends Observation>(
  run: R,
  policy: Policy<R, Seen>,
  bursts: boolean,
  now: Date,
): WorkflowState {
  return {
    run_id: run.run_id,
    generation: run.generation,
    done: false,
    ...(bursts && { burst: run.burst, over: false, rests: false }),
    wait_until: policy.wakeAt(run, now).toISOString(),
    capture: {
      ...describeNext(run, policy),
      closing: run.next?.closing ?? policy.beginsClosed(run, now),
      seen: run.seen,
      motion: run.handed_over,
    },
  };
}

/** Returns the workflow state after a tick, from the stored run and the capture of the tick. */
function stateAfterTick<R extends Run, Seen extends Observation>(
  run: R,
  policy: Policy<R, Seen>,
  input: TickInput,
  now: Date,
): WorkflowState {
  const { capture, captured } = input;
  const { next } = run;
  const over =
    isAbandoned(run, input) ||
    policy.isOver(run) ||
    run.generation > input.generation ||
    (next?.done ?? false);
  const wakeAt = policy.wakeAt(run, now);
  return {
    run_id: input.run_id,
    generation: input.generation,
    ...planBurst(input, over, wakeAt, now),
    wait_until: wakeAt.toISOString(),
    capture: {
      ...describeNext(run, policy),
      closing: next?.closing ?? true,
      ...captureStateAfter(capture, captured, next ?? { judged: false }),
      ...(captured.kind === 'captured' && policy.wakes?.(run) && { wakes: { quiet: !captured.moved } }),
    },
  };
}

/** Returns true if a newer Begin took over the ticks of this generation: this burst was abandoned while it ran. */
function isAbandoned({ burst, generation }: Run, input: TickInput): boolean {
  return input.burst !== undefined && generation === input.generation && burst > input.burst;
}

/** Returns the workflow state of a run whose execution has nothing to do. */
export function finishedState(
  { run_id, generation, bursts }: BeginInput,
  run: Run | undefined,
): WorkflowState {
  return {
    run_id,
    generation,
    done: true,
    ...(bursts && { over: true, rests: false }),
    wait_until: new Date(0).toISOString(),
    capture: {
      ...closed(run?.source_id ?? run_id, (run?.last_tick ?? 0) + 1),
      seen: null,
      motion: null,
    },
  };
}

/** Returns the workflow state after a tick of a run that is gone. */
function goneState(input: TickInput, now: Date): WorkflowState {
  const { run_id, generation, capture, captured } = input;
  return {
    run_id,
    generation,
    ...planBurst(input, true, new Date(0), now),
    wait_until: new Date(0).toISOString(),
    capture: {
      ...closed(capture.source_id, capture.tick + 1),
      ...captureStateAfter(capture, captured, { judged: false }),
    },
  };
}

function describeNext<R extends Run, Seen extends Observation>(run: R, policy: Policy<R, Seen>) {
  return {
    ...(policy.probesLost && { probes_lost: true as const }),
    ...(policy.confirms(run) && { confirms: true as const }),
    source_id: run.source_id,
    tick: run.last_tick + 1,
    resolve_again: run.next?.resolve_again ?? false,
  };
}

/** Returns a tick that captures nothing. */
function closed(sourceId: string, tick: number) {
  return { source_id: sourceId, tick, closing: true, resolve_again: false };
}
