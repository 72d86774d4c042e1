import type { Limits } from '../dependencies.ts';
import { applyRunChange } from '../event/stored-run.ts';
import type { CommittedTick } from '../policies/policy.ts';
import { freePace } from '../ports/pace.ts';
import type { WatchRun } from '../records/run.ts';
import type { AnalyzeInput, CaptureOutput, WorkflowState } from '../records/workflow.ts';
import { runAnalyzeTask, type AnalyzeTaskDeps } from './tasks.ts';

export type VirtualRunDeps = Pick<AnalyzeTaskDeps, 'media' | 'vision' | 'cutFrame' | 'createAlertId'> & {
  limits: Pick<Limits, 'visionTimeoutSeconds'>;
  /** Virtual clock, which the caller moves forward between ticks. */
  clock: { now: Date };
  /** Receives each committed tick. */
  observe: (tick: CommittedTick) => Promise<void>;
};

/** Watch that runs by the tasks of the workflow, with its state in memory and nobody to tell. */
export type VirtualRun = ReturnType<typeof createVirtualRun>;

/**
 * Creates a virtual run of a watch. Its destinations receive nothing, and a budget in dollars pauses it: no model has a
 * price.
 */
export function createVirtualRun(first: WatchRun, given: VirtualRunDeps) {
  let run = first;
  const deps: AnalyzeTaskDeps = {
    ...given,
    ...nobody,
    limits: { visionTimeoutSeconds: given.limits.visionTimeoutSeconds, retentionSeconds: 0 },
    modelPrice: null,
    now: () => given.clock.now,
    runs: {
      get: async () => run,
      commit: async (change) => {
        if (change.expectedVersion !== run.version) return 'outdated';
        run = applyRunChange(run, change);
        return 'committed';
      },
      // Only a conflict, or an open alert of another process, is read again.
      events: async () => [],
      alert: async () => undefined,
    },
  };
  return {
    /** Returns the watch after its newest tick. */
    read: () => run,
    begin,
    analyze,
  };

  function begin(): Promise<WorkflowState> {
    return ask({ operation: 'begin', run_id: run.run_id, generation: run.generation });
  }

  /** Analyzes the capture of a step. Returns the next step, also that of a next execution. Throws the abort reason. */
  async function analyze(step: WorkflowState, captured: CaptureOutput, signal?: AbortSignal) {
    const { run_id, generation, capture } = step;
    const next = await ask({ operation: 'analyze', run_id, generation, capture, captured }, signal);
    return next.done && run.generation > generation ? begin() : next;
  }

  async function ask(input: AnalyzeInput, signal?: AbortSignal): Promise<WorkflowState> {
    const state = await runAnalyzeTask(input, deps, signal);
    if (!('capture' in state)) throw new Error('The task closed the run');
    return state;
  }
}

const ignore = (): void => undefined;

/** Collaborators of a run that no other process sees. */
const nobody = {
  executions: { start: async () => 'started' },
  deliveries: { states: async () => [] },
  pace: freePace,
  meter: { count: async () => undefined },
  usage: { charge: async (_caller, call) => call(), record: async () => undefined },
  contactSheets: { make: () => Promise.reject(new Error('A watch has no windows')) },
  newId: () => '',
  log: { debug: ignore, info: ignore, warning: ignore, error: ignore },
} satisfies Partial<AnalyzeTaskDeps>;
