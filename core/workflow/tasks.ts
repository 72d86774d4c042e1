import { isIdle, applyRunChange } from '../event/stored-run.ts';
import { runLog } from '../ports/observability.ts';
import {
  analyzeInputSchema,
  captureInputSchema,
  type AnalyzeInput,
  type CaptureOutput,
  type WorkflowState,
  type BeginInput,
} from '../records/workflow.ts';
import type { Limits, CoreDeps } from '../dependencies.ts';
import { createWatchPolicy, type WatchSettings } from '../policies/watch/policy.ts';
import { toLogKey, type Run } from '../records/run.ts';
import {
  analyze,
  discardTick,
  startNextGeneration,
  type AnalyzeDeps,
  finishedState,
  stateAtBegin,
} from './analyze.ts';
import { modelSeconds } from './burst.ts';
import { captureTick, type CaptureDeps } from './capture-tick.ts';
import { failRun } from './repair.ts';
import { withDecisions } from '../policies/job-policies.ts';
import { toJobPolicy, type JobSettings } from '../policies/job/policy.ts';
import type { Observation, Policy } from '../policies/policy.ts';
import type { RunStore } from '../ports/runs.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';

/**
 * Task handlers of `run.asl.json` (JSON in, JSON out), called by Step Functions and by the scheduler of one machine.
 */

/** Settings of the service that decisions depend on. */
type PolicySettings = JobSettings & WatchSettings;

export async function captureTask(
  input: unknown,
  deps: CaptureDeps,
  signal?: AbortSignal,
): Promise<CaptureOutput> {
  return captureTick(captureInputSchema.parse(input), deps, signal);
}

export async function analyzeTask(
  input: unknown,
  deps: AnalyzeTaskDeps,
  signal?: AbortSignal,
): Promise<WorkflowState | ClosedStep> {
  return runAnalyzeTask(analyzeInputSchema.parse(input), deps, signal);
}

/** Runs a task whose input needs no check, as in a run that no other process sees. */
export async function runAnalyzeTask(
  task: AnalyzeInput,
  deps: AnalyzeTaskDeps,
  signal?: AbortSignal,
): Promise<WorkflowState | ClosedStep> {
  switch (task.operation) {
    case 'begin': {
      const run = await deps.runs.get(task.run_id, deps.now());
      if (!run) return finishedState(task, undefined);
      return withPolicy(run, readSettings(deps), (first, policy) => begin(first, policy, task, deps));
    }
    case 'analyze': {
      const run = await deps.runs.get(task.run_id, deps.now());
      if (!run) return discardTick(task, deps);
      const seconds = modelSeconds(task, deps.limits.visionTimeoutSeconds, deps.now());
      const limits = { ...deps.limits, visionTimeoutSeconds: seconds };
      return withPolicy(run, readSettings(deps), (first, policy) =>
        analyze(first, policy, task, { ...deps, limits }, signal),
      );
    }
    case 'close':
      await close(task, deps);
      return { run_id: task.run_id, done: true };
  }
}

type ClosedStep = { run_id: string; done: true };
export type AnalyzeTaskDeps = Omit<AnalyzeDeps, 'limits'> &
  Pick<WatchSettings, 'createAlertId' | 'modelPrice'> & {
    limits: Pick<Limits, 'visionTimeoutSeconds' | 'retentionSeconds' | 'lostCameraSeconds' | 'wakesOnMotion'>;
  };

function readSettings({ createAlertId, modelPrice, limits, vision }: AnalyzeTaskDeps): PolicySettings {
  const { retentionSeconds, lostCameraSeconds, wakesOnMotion = false } = limits;
  return {
    judgedBy: vision.provider,
    createAlertId,
    modelPrice,
    retentionSeconds,
    lostCameraSeconds,
    wakesOnMotion,
  };
}

/**
 * Handles a workflow that failed. A run that was handed over to its next generation does not depend on it: the run
 * continues, and its next execution is started in case that start was what failed.
 */
async function close(
  { run_id, generation, failure }: Extract<AnalyzeInput, { operation: 'close' }>,
  deps: AnalyzeTaskDeps,
): Promise<void> {
  const run = await deps.runs.get(run_id, deps.now());
  if (!run) return;
  const { Error: error, Cause: cause = null } = failure;
  runLog(deps.log, toLogKey(run)).error('Workflow failed', { error, cause });
  if (isIdle(run)) return;
  await startNextGeneration(run, { generation }, deps);
  await failRun(
    run,
    {
      cause: `${error}: ${cause ?? ''}`,
      remediation: 'The job failed unexpectedly. Start it again; the operator finds the cause in the logs.',
    },
    { ...deps, executions: { ...deps.executions, stop: endsByItself } },
    (current) => current.generation <= generation,
  );
}

/** Does not stop its own execution: Step Functions would report it as aborted, and no alarm would fire. */
const endsByItself = async (): Promise<void> => undefined;

function withPolicy<Result>(
  run: Run,
  settings: PolicySettings,
  use: <R extends Run, Seen extends Observation>(run: R, policy: Policy<R, Seen>) => Result,
): Result {
  if (run.policy === 'watch') return use(run, createWatchPolicy(settings));
  return withDecisions(run, (job, decisions) => use(job, toJobPolicy(job.policy, decisions, settings)));
}

/**
 * Handles `begin`: starts a pending run, continues any other where its last tick ended, and reports as done what has
 * ended, is paused, or is of an older generation. With `bursts`, the run takes the next burst number, which ends the
 * ticks of an abandoned burst. `first` is the run as it was read for its policy.
 */
async function begin<R extends Run, Seen extends Observation>(
  first: R,
  policy: Policy<R, Seen>,
  input: BeginInput,
  { runs, now, log }: Pick<CoreDeps, 'now' | 'log'> & { runs: Pick<RunStore, 'get' | 'commit'> },
): Promise<WorkflowState> {
  const bursts = input.bursts ?? false;
  let unread: R | undefined = first;
  return retryConflicts('The run changed too often while it was to begin', async () => {
    const stored: Run | undefined = unread ?? (await runs.get(input.run_id, now()));
    unread = undefined;
    if (!stored || !policy.owns(stored) || policy.isOver(stored) || stored.generation > input.generation)
      return committed(finishedState(input, stored));
    let run: R = stored;
    const started = policy.begin(run, now());
    if (started) {
      if ((await runs.commit(started)) !== 'committed') return conflict;
      run = applyRunChange(run, started);
      runLog(log, toLogKey(run)).info('Job started', { interval_seconds: policy.interval(run) });
    }
    if (bursts) {
      const taken = {
        runId: run.run_id,
        expectedVersion: run.version,
        set: { burst: run.burst + 1 },
        events: [],
      };
      if ((await runs.commit(taken)) !== 'committed') return conflict;
      run = applyRunChange(run, taken);
    }
    return committed(stateAtBegin(run, policy, bursts, now()));
  });
}
