import type { AsCaller } from '../ports/as-caller.ts';
import type { CoreDeps, Limits } from '../dependencies.ts';
import { summarizeWindows } from '../policies/digest/summarize-windows.ts';
import type { SummaryDeps } from '../policies/digest/summarize-windows.ts';
import type { Check, Evidence, Observation, Picture, Policy } from '../policies/policy.ts';
import { runLog } from '../ports/log.ts';
import { toRunKey } from '../records/run.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { Log } from '../ports/log.ts';
import { applyRunChange } from '../event/stored-run.ts';
import type { DestinationState } from '../records/delivery.ts';
import type { Run } from '../records/run.ts';
import type { ModelCall } from '../records/vision.ts';
import type { RunChange } from '../ports/run-store.ts';
import type { CaptureOutput, TickInput, WorkflowState } from '../records/workflow.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import { captureStateAfter } from '../tick/advance-run.ts';
import { askModel } from '../tick/ask-model.ts';
import { readCheckMedia } from '../tick/read-media.ts';
import type { MomentMedia } from '../tick/read-media.ts';
import { planBurst } from './burst.ts';
import { reportTick } from './report-tick.ts';
import { refreshEvidence, storeEvidence } from './store-evidence.ts';

export type AnalyzeDeps = SummaryDeps &
  Pick<CoreDeps, 'runs' | 'executions' | 'pace' | 'meter' | 'now' | 'cutFrame'> & {
    deliveries: Pick<DeliveryStore, 'states'>;
    limits: Pick<Limits, 'visionTimeoutSeconds'>;
    /** Absent if the model needs no order of callers. */
    asCaller?: AsCaller;
  };

/**
 * Second half of a tick, the same for every policy: calls the model if the capture needs it, decides, and commits the tick with all that follows from it in one
 * transaction. After a conflict it decides again with what it saw. A repetition is safe: a committed tick returns the stored result. `first` is the run as it
 * was read for its policy.
 */
export async function analyze<R extends Run, Seen extends Observation>(
  first: R,
  policy: Policy<R, Seen>,
  input: TickInput,
  deps: AnalyzeDeps,
  signal?: AbortSignal,
): Promise<WorkflowState> {
  const log = runLog(deps.log, toRunKey(first));
  const timeout = { seconds: deps.limits.visionTimeoutSeconds, signal };
  const stored: Evidence[] = [];
  let unread: R | undefined = first;
  let observed: { seen: Seen; askedAt: Date } | undefined;
  let stretch: number | undefined;
  return retryConflicts('The run changed too often while its tick was to be committed', async () => {
    const run = unread ?? (await deps.runs.get(input.job_id, deps.now()));
    unread = undefined;
    if (!run || !policy.owns(run)) return committed(await discardTick(input, deps, toKeys(stored)));
    if (isAbandoned(run, input) && !observed) return finish(run);
    const isDone =
      policy.isOver(run) || run.generation > input.generation || run.last_tick >= input.capture.tick;
    if (isDone && !(observed && policy.countsLate(observed.seen))) return finish(run);
    const readAt = deps.now();
    if (!observed) {
      const work = policy.work(run, input.captured, readAt);
      if (work.kind === 'seen') observed = { seen: work.seen, askedAt: readAt };
      else {
        // A capture that was removed before has no call to reserve.
        const media = await readCheckMedia(work, deps);
        const reservation = media && work.reservation;
        if (reservation && (await deps.runs.commit(reservation)) !== 'committed') return conflict;
        const judgement = media && (await check(work, media, run));
        observed = { seen: work.judged(judgement), askedAt: readAt };
        // A reservation has changed the stored run.
        if (reservation) return conflict;
      }
    }
    const seen = { input, ...observed };
    const windows = policy.windows?.(run, seen, deps.now());
    const closed = windows && (await summarizeWindows(windows.job, windows.closing, deps, timeout));
    stretch ??= deps.pace.stretch(input.job_id, policy.interval(run));
    const destinations = await readDestinations(run);
    const change = policy.decide(run, { ...seen, closed, readAt, stretch, destinations }, deps.now());
    const evidence = policy.evidence(run, seen.seen, change);
    stored.push(...evidence);
    await storeEvidence(evidence, deps, log);
    await refreshEvidence(policy.expiringAlerts?.(run, change, deps.now()) ?? [], deps, log);
    if ((await deps.runs.commit(change)) !== 'committed') return conflict;
    const after = applyRunChange(run, change);
    const kept = [...policy.pictures(after), ...listReferred(change.events)];
    await removeMedia(listUnneeded(policy.pictures(run), kept, input.captured), deps, log);
    await reportTick(after, seen.seen, closed, deps, log);
    return finish(after, kept);
  });
  async function finish(run: R, kept: readonly Picture[] = []) {
    await removeOutdated(run, kept);
    if (!policy.isOver(run)) await startNextGeneration(run, input, deps);
    return committed(stepAfter(run, policy, input, deps.now(), isAbandoned(run, input)));
  }

  /** Removes the evidence of this capture that a decision has stored which a change outdated. Another attempt of the tick may have committed it. */
  async function removeOutdated({ run_id: id }: R, kept: readonly Picture[]) {
    const own = new Set(taken(input.captured));
    const keys = toKeys(stored.filter(({ frame_key: of, key }) => own.has(of) && !isKept(kept, key)));
    if (keys.length === 0) return;
    const referred = listReferred(await deps.runs.events(id, first.sequence, maxEventsOfTick, deps.now()));
    const outdated = keys.filter((key) => !isKept(referred, key));
    await removeMedia(outdated, deps, log);
  }

  /** Calls the model. Counts its calls also if the task is aborted, and made again. */
  async function check({ questions }: Check, media: MomentMedia, { caller }: R) {
    const made: ModelCall[] = [];
    const ask = async () => askModel(questions, media, deps, signal, made);
    try {
      return await (deps.asCaller?.(caller, ask) ?? ask());
    } finally {
      await deps.usage.record(caller, made);
    }
  }

  /** Returns the states of the destinations, or `null` if they cannot be read: a tick does not fail for them. */
  async function readDestinations({ run_id, config }: Run): Promise<DestinationState[] | null> {
    if (!('destinations' in config) || config.destinations.length === 0) return [];
    try {
      return await deps.deliveries.states({ run: 'watch', run_id });
    } catch (error) {
      log.warning('States of destinations not read', { error: String(error) });
      return null;
    }
  }
}

/** Starts the execution of the current generation if the run was handed over from `generation`. Has no effect if it was started before. */
export async function startNextGeneration(
  { run_id, generation }: Run,
  before: { generation: number },
  { executions }: Pick<CoreDeps, 'executions'>,
): Promise<void> {
  if (generation > before.generation) await executions.start({ job_id: run_id, generation });
}

/** Returns the workflow state after a tick of a run that is gone, and removes what the tick has stored. */
export async function discardTick(
  input: TickInput,
  deps: Pick<AnalyzeDeps, 'media' | 'log' | 'now'>,
  stored: readonly string[] = [],
): Promise<WorkflowState> {
  const { job_id: id, generation, capture, captured } = input;
  await removeMedia([...stored, ...taken(captured)], deps, deps.log);
  return {
    job_id: id,
    generation,
    ...planBurst(input, true, new Date(0), deps.now()),
    wait_until: new Date(0).toISOString(),
    capture: {
      source_id: capture.source_id,
      tick: capture.tick + 1,
      closing: true,
      resolve_again: false,
      ...captureStateAfter(capture, captured, { judged: false }),
    },
  };
}

/** Returns true if a newer Begin took over the ticks of this generation: this burst was abandoned while it ran. */
function isAbandoned({ burst, generation }: Run, input: TickInput): boolean {
  return input.burst !== undefined && generation === input.generation && burst > input.burst;
}

/** Returns the workflow state after a tick, from the stored run and the capture of the tick. */
function stepAfter<R extends Run, Seen extends Observation>(
  run: R,
  policy: Policy<R, Seen>,
  input: TickInput,
  now: Date,
  ended = false,
): WorkflowState {
  const { capture, captured } = input;
  const { next } = run;
  const over = ended || policy.isOver(run) || run.generation > input.generation || (next?.done ?? false);
  const wakeAt = policy.wakeAt(run, now);
  return {
    job_id: input.job_id,
    generation: input.generation,
    ...planBurst(input, over, wakeAt, now),
    wait_until: wakeAt.toISOString(),
    capture: {
      ...(policy.probesLost && { probes_lost: true }),
      ...(policy.confirms(run) && { confirms: true }),
      source_id: run.source_id,
      tick: run.last_tick + 1,
      closing: next?.closing ?? true,
      resolve_again: next?.resolve_again ?? false,
      ...captureStateAfter(capture, captured, next ?? { judged: false }),
      ...(captured.kind === 'captured' && policy.wakes?.(run) && { wakes: { quiet: !captured.moved } }),
    },
  };
}

/** Returns the keys of media that nothing refers to after a tick: of its capture, and of the run before it. A clip has no use after its check. */
function listUnneeded(
  before: readonly Picture[],
  after: readonly Picture[],
  captured: CaptureOutput,
): string[] {
  const kept = new Set([...after, ...before.filter(({ isEvidence }) => isEvidence)].map(({ key }) => key));
  const keys = new Set([...before.map(({ key }) => key), ...taken(captured)]);
  return [...keys].filter((key) => !kept.has(key));
}

/** Returns the pictures of the events of a tick. */
function listReferred(events: RunChange['events']): Picture[] {
  const keys = events.map(({ data }) => ('frame_key' in data ? data.frame_key : null));
  return keys.flatMap((key) => (key === null || key === undefined ? [] : [{ key, isEvidence: true }]));
}

/** Maximum events that are committed while a tick is under way. */
const maxEventsOfTick = 1000;

function isKept(pictures: readonly Picture[], key: string): boolean {
  return pictures.some((picture) => picture.key === key);
}

function toKeys(evidence: readonly Evidence[]): string[] {
  return evidence.map(({ key }) => key);
}

/** Returns the keys of all media of a capture. */
export function taken(captured: CaptureOutput): string[] {
  if (captured.kind !== 'captured') return [];
  const { frame_key: frame, clip_key: clip, moments = [] } = captured;
  return [frame, ...(clip === null ? [] : [clip]), ...moments.map(({ frame_key: key }) => key)];
}

/** Objects that a fault or a crash leaves behind expire (`media-lifetime.ts`). */
async function removeMedia(
  keys: readonly string[],
  { media }: Pick<CoreDeps, 'media'>,
  log: Log,
): Promise<void> {
  if (keys.length === 0) return;
  await media.remove(keys).catch((error: unknown) => {
    log.warning('Media not removed', { count: keys.length, error: String(error) });
  });
}
