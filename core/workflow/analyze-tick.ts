import type { CoreDeps, Limits } from '../dependencies.ts';
import { recordModelWait } from '../tick/coverage.ts';
import { atTick, withMovedTimes } from '../tick/clock-change.ts';
import { screenCapture } from '../tick/screen-capture.ts';
import type { Screening } from '../tick/screen-capture.ts';
import { planTick, unreferencedMedia } from '../tick/job-change.ts';
import { storeShownFrame } from '../stream/shown-frame.ts';
import { readTimes } from '../tick/tick-outcome.ts';
import type { TickOutcome, TickDecision } from '../tick/tick-outcome.ts';
import { earlier } from '../time.ts';
import { intervalSeconds, wakeUpTime } from '../tick/next-tick.ts';
import { planTickClosure } from '../digest/window-closure.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import type { Job, NextTick } from '../records/job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal } from '../records/job.ts';
import type { AnalyzeInput, ExecutionInput, WorkflowState } from '../records/workflow.ts';
import type { CaptureState } from '../records/capture.ts';
import { modelSeconds, planBurst } from './burst.ts';
import { judgeCapture } from './judge-capture.ts';
import { publishCommit } from '../event/publish.ts';
import { summarizeWindows } from '../digest/summarize-windows.ts';
import type { SummaryDeps } from '../digest/summarize-windows.ts';
import { decideDigestTick } from '../digest/after-tick.ts';
import { decideMonitorTick } from '../monitor/after-tick.ts';

export type AnalyzeDeps = SummaryDeps &
  Pick<CoreDeps, 'jobs' | 'queue' | 'executions' | 'pace' | 'now' | 'cutFrame'> & {
    limits: Pick<Limits, 'retentionSeconds' | 'visionTimeoutSeconds'>;
  };
type TickInput = Extract<AnalyzeInput, { operation: 'analyze' }>;

/**
 * Second half of a tick: calls the model if the capture needs it, decides, and commits tick, events and perhaps the end in one transaction.
 * A repetition is safe: a committed tick returns the stored result without a model call.
 */
export async function analyzeTick(
  input: TickInput,
  given: AnalyzeDeps,
  signal?: AbortSignal,
): Promise<WorkflowState> {
  const visionTimeoutSeconds = modelSeconds(input, given.limits.visionTimeoutSeconds, given.now());
  const deps = { ...given, limits: { ...given.limits, visionTimeoutSeconds } };
  let observed: TickOutcome | undefined;
  let stretch: number | undefined;
  return retryConflicts('The job changed too often while its tick was to be committed', async () => {
    const stored = await deps.jobs.get(input.job_id, deps.now());
    if (!stored || isTerminal(stored.status) || isAbandoned(stored, input))
      return committed(stepAfter(stored, input, deps.now(), true));
    if (stored.last_tick >= input.capture.tick || stored.generation > input.generation) {
      await startNextGeneration(stored, input, deps);
      return committed(stepAfter(stored, input, deps.now()));
    }
    observed ??= await observe(stored, input, deps, signal);
    // The observation stays valid. Closures are planned again, because a concurrent change may have closed windows.
    const outcome = await withClosedWindows(stored, observed, deps, signal);
    const { job, now: decidedAt } = atTick(stored, deps.now());
    stretch ??= deps.pace.stretch(job.job_id, intervalSeconds(job));
    const decision = decideAfterTick(job, outcome, decidedAt, stretch);
    const captureState = captureStateAfter(input, decision.next);
    const planned = planTick(job, decision, captureState, deps.limits.retentionSeconds, decidedAt);
    const change = withMovedTimes(planned, stored, job);
    await keepEvidence(outcome, decision, deps);
    if ((await deps.jobs.commit(change)) !== 'committed') return conflict;
    const after: Job = { ...job, ...change.set };
    await removeUnneeded(job, after, input, deps);
    report(after, outcome, deps);
    await startNextGeneration(after, input, deps);
    await publishCommit(after, change.events, deps);
    return committed(stepAfter(after, input, deps.now()));
  });
}

async function observe(
  stored: Job,
  input: TickInput,
  deps: AnalyzeDeps,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  const { job, now } = atTick(stored, deps.now());
  const plan = screenCapture(job, input.captured, now);
  const at = plan.kind === 'no_capture' ? now : earlier(new Date(input.captured.began_at), now);
  return { ...(await judgeOrSample(job, plan, deps, signal)), times: { at, askedAt: now } };
}

async function judgeOrSample(
  job: Job,
  plan: Screening,
  deps: AnalyzeDeps,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  if (plan.kind !== 'fresh') return plan;
  switch (job.job_type) {
    case 'live-monitor':
      return judgeCapture(job, plan.captured, deps, signal);
    case 'live-digest':
      return { kind: 'sampled', captured: plan.captured };
  }
}

async function withClosedWindows(
  stored: Job,
  observed: TickOutcome,
  deps: AnalyzeDeps,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  const { job, now } = atTick(stored, deps.now());
  const closing = job.job_type === 'live-digest' ? planTickClosure(job, observed, now) : undefined;
  if (job.job_type !== 'live-digest' || !closing) return observed;
  const timeout = { seconds: deps.limits.visionTimeoutSeconds, signal };
  return { ...observed, closed: await summarizeWindows(job, closing, deps, timeout) };
}

/** Returns true if a newer Begin took over the ticks of this generation: this burst was abandoned while it ran. */
function isAbandoned({ burst, generation }: Job, input: TickInput): boolean {
  return input.burst !== undefined && generation === input.generation && burst > input.burst;
}

/** Returns the workflow state after a tick, from the stored job and the capture of the tick. */
function stepAfter(job: Job | undefined, input: TickInput, now: Date, ended = false): WorkflowState {
  const { capture } = input;
  const over = ended || !job || job.generation > input.generation || (job.next?.done ?? false);
  const wakeAt = job ? wakeUpTime(job, now) : new Date(0);
  return {
    job_id: input.job_id,
    generation: input.generation,
    ...planBurst(input, over, wakeAt, now),
    wait_until: wakeAt.toISOString(),
    capture: {
      source_id: capture.source_id,
      tick: (job?.last_tick ?? capture.tick) + 1,
      closing: job?.next?.closing ?? true,
      resolve_again: job?.next?.resolve_again ?? false,
      ...captureStateAfter(input, job?.next ?? null),
    },
  };
}

/** Returns the state for the next capture: this capture is its motion reference if the model saw it. A tick without a capture keeps the state. */
function captureStateAfter({ captured, capture }: TickInput, next: NextTick | null): CaptureState {
  if (captured.kind !== 'captured') return { seen: capture.seen, motion: capture.motion };
  return {
    seen: captured.seen,
    motion: next?.looked ? captured.motion_if_looked : captured.motion_if_skipped,
  };
}

/** Stores the frame of the clip that an alert refers to. */
async function keepEvidence(
  outcome: TickOutcome,
  { events }: TickDecision,
  deps: AnalyzeDeps,
): Promise<void> {
  const alert = events.find((event) => event.type === 'watch_triggered');
  if (outcome.kind !== 'judged' || alert === undefined) return;
  const { shown_at_seconds: atSeconds } = outcome.verdict;
  if (atSeconds !== undefined) await storeShownFrame(alert.data.frame_key, outcome.captured, atSeconds, deps);
}

/** Deletes unreferenced media. Objects that a fault or a crash leaves behind expire (`media-lifetime.ts`). */
async function removeUnneeded(
  before: Job,
  after: Job,
  { captured }: TickInput,
  deps: AnalyzeDeps,
): Promise<void> {
  const keys = unreferencedMedia(before, after, captured);
  if (keys.length === 0) return;
  await deps.media.remove(keys).catch((error: unknown) => {
    jobLog(deps.log, after.job_id).warning('Media not removed', {
      count: keys.length,
      error: String(error),
    });
  });
}

function report(job: Job, outcome: TickOutcome, deps: AnalyzeDeps): void {
  const log = jobLog(deps.log, job.job_id);
  const fields = { tick: job.last_tick, outcome: outcome.kind, triggers_fired: job.counters.triggers_fired };
  if (outcome.closed?.result.kind === 'missed')
    log.warning('Summary failed', {
      ...fields,
      remediation: outcome.closed.result.failure.remediation,
    });
  if (outcome.kind === 'model_failed')
    log.warning('Check failed', { ...fields, remediation: outcome.failure.remediation });
  else if (outcome.kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: outcome.message, remediation: outcome.remediation });
  else log.debug('Tick committed', fields);
  if (job.reason) log.info('Job ended', { status: job.status, reason: job.reason });
}

/** Decides everything about a tick, from the job before it, the outcome and the time. Pure. */
export function decideAfterTick(job: Job, outcome: TickOutcome, now: Date, stretch = 1): TickDecision {
  const { askedAt } = readTimes(outcome, now);
  switch (job.job_type) {
    case 'live-monitor': {
      const decision = decideMonitorTick(job, outcome, now, stretch);
      return { ...decision, watch: recordModelWait(job, decision.watch, askedAt, now) };
    }
    case 'live-digest': {
      const decision = decideDigestTick(job, outcome, now, stretch);
      const after = { ...job, digest: decision.digest };
      return { ...decision, watch: recordModelWait(after, decision.watch, askedAt, now) };
    }
  }
}

/**
 * Starts the execution of the job's current generation if the job was handed over from `generation`: the history of an execution is finite.
 * Has no effect on an ended job, and if the execution was started before.
 */
export async function startNextGeneration(
  job: Job,
  { generation }: Pick<ExecutionInput, 'generation'>,
  deps: Pick<CoreDeps, 'executions'>,
): Promise<void> {
  if (isTerminal(job.status) || job.generation <= generation) return;
  await deps.executions.start({ job_id: job.job_id, generation: job.generation });
}
