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
import type { TaskFunction } from './task-attempt.ts';
import { abortExecution, startExecution } from './transition.ts';

export type WorkflowEngineDeps = Pick<ExecutionRunDeps, 'store' | 'clock' | 'random' | 'log'> & {
  /** The parsed `workflow/watch.asl.json`. */
  definition: unknown;
  /** The functions that `${…}` in `Resource` stands for, by name. */
  resources: Record<string, TaskFunction>;
  onTransition?: (event: TransitionEvent) => void;
};

export type WorkflowEngine = Executions & {
  /** At the start of the process: every running execution goes on from where it was stored. */
  resume(): void;
  /** Takes no further step, aborts the tasks in flight and waits for them, at most 10 s. The next start goes on. */
  close(): Promise<void>;
};

/** A task that ignores its signal for longer than this does not hold up the end of the process. */
const closeGraceSeconds = 10;

/**
 * Runs one workflow definition durably: every move is stored before the next step, so that an execution survives the
 * process. A task whose result was not stored runs again (at least once). Rejects a start that cannot be stored.
 * @throws WorkflowDefinitionError
 */
export function createWorkflowEngine({
  definition,
  resources,
  ...collaborators
}: WorkflowEngineDeps): WorkflowEngine {
  const { store, clock } = collaborators;
  const runs = new Map<string, ExecutionRun>();
  const tasks = new Set<Promise<unknown>>();
  const forRuns: ExecutionRunDeps = {
    ...collaborators,
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
        collaborators.onTransition?.({
          execution: name,
          state: move.progress.state,
          input: move.progress.data,
        });
      }
      // A name that is taken can be a running execution that nobody runs: its start was stored and the answer lost.
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
    const grace = Promise.withResolvers<void>();
    const cancel = clock.setTimer(new Date(clock.now().getTime() + seconds * 1000), grace.resolve);
    await Promise.race([Promise.all(tasks), grace.promise]);
    cancel();
  }
}
