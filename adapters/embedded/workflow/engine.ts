import type { Executions } from '../../../core/ports/executions.ts';
import type { ExecutionInput } from '../../../core/records/workflow.ts';
import { loadWorkflow } from './definition.ts';
import {
  createExecutionRun,
  type ExecutionRun,
  type ExecutionRunDeps,
  type TransitionEvent,
} from './execution-run.ts';
import type { StoredExecution } from './execution-store.ts';
import { executionName } from '../../../core/records/workflow.ts';
import { waitAtMost } from '../../../core/time-limit.ts';
import type { TaskFunction } from './task-attempt.ts';
import { abortExecution, startExecution } from './transition.ts';

export type WorkflowEngineDeps = Pick<ExecutionRunDeps, 'store' | 'clock' | 'random' | 'log'> & {
  /** Parsed JSON of `workflow/watch.asl.json`. */
  definition: unknown;
  /** Functions by the name that `${…}` has in `Resource`. */
  resources: Record<string, TaskFunction>;
  onTransition?: (event: TransitionEvent) => void;
};

export type WorkflowEngine = Executions & {
  /** Resumes every running execution from its stored position. Call it when the process starts. */
  resume(): void;
  /** Takes no further step, aborts tasks in flight and waits for them, at most 10 s. The next start resumes the executions. */
  close(): Promise<void>;
};

/** Maximum wait for tasks that ignore their signal at shutdown. */
const closeGraceSeconds = 10;

/**
 * Creates a durable engine for one workflow definition: it stores every task result and wait before the next step, so that executions
 * survive the process. A task whose result was not stored runs again (at least once). `start` rejects if it cannot store the
 * execution.
 * @throws WorkflowDefinitionError
 */
export function createWorkflowEngine({ definition, resources, ...deps }: WorkflowEngineDeps): WorkflowEngine {
  const { store, clock } = deps;
  const runs = new Map<string, ExecutionRun>();
  const tasks = new Set<Promise<unknown>>();
  const forRuns: ExecutionRunDeps = {
    ...deps,
    workflow: loadWorkflow(definition, Object.keys(resources)),
    resources: new Map(Object.entries(resources)),
    onTask: watch,
  };
  let closed = false;

  return {
    async start({ job_id, generation }: ExecutionInput) {
      const input = { job_id, generation };
      const name = executionName(input);
      const now = clock.now();
      const move = startExecution(forRuns.workflow, input, now);
      const execution = { name, input, startedAt: now, progress: move.progress };
      const started = store.insert(execution);
      if (started) {
        deps.onTransition?.({
          execution: name,
          state: move.progress.state,
          input: move.progress.data,
        });
      }
      // A taken name can belong to a running execution without a run: its start was stored and the response lost.
      const stored = started ? execution : store.find(name);
      if (stored !== undefined) goOn(stored);
      return started ? 'started' : 'already';
    },

    async stop(input, cause) {
      const name = executionName(input);
      const run = runs.get(name);
      if (run !== undefined) {
        run.stop(cause);
        return;
      }
      const progress = store.find(name)?.progress;
      if (progress?.status === 'running')
        store.save(name, abortExecution(progress, cause, clock.now()).progress);
    },

    async status(input) {
      return store.find(executionName(input))?.progress.status;
    },

    runsHere: (input) => runs.has(executionName(input)),

    resume() {
      for (const execution of store.running()) goOn(execution);
    },

    async close() {
      closed = true;
      for (const run of runs.values()) run.close();
      runs.clear();
      await settledWithin(closeGraceSeconds);
    },
  };

  function goOn({ name, input, progress }: StoredExecution): void {
    if (closed || progress.status !== 'running' || runs.has(name)) return;
    const run = createExecutionRun({ name, input }, progress, forRuns, () => runs.delete(name));
    runs.set(name, run);
    run.go();
  }

  function watch(settled: Promise<unknown>): void {
    tasks.add(settled);
    void settled.finally(() => tasks.delete(settled));
  }

  async function settledWithin(seconds: number): Promise<void> {
    await waitAtMost<unknown>(
      seconds * 1000,
      Promise.all(tasks),
      () => undefined,
      (fire, delayMs) => clock.setTimer(new Date(clock.now().getTime() + delayMs), fire),
    );
  }
}
