import { setImmediate } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { Executions } from '../../../core/ports/executions.ts';
import { type ExecutionInput, executionInputSchema } from '../../../core/records/workflow.ts';
import { waitAtMost } from '../../../core/time-limit.ts';
import { TickLoop, type TickLoopDeps } from './tick-loop.ts';
import { withStorageErrors } from '../sqlite/transaction.ts';

/**
 * Returns a function that lists the runs which need further ticks: active jobs, and watches that are neither paused nor
 * deleted.
 */
export function listUnfinishedRuns(database: DatabaseSync): () => ExecutionInput[] {
  const unfinished = database.prepare(
    "SELECT run_id, run ->> 'generation' AS generation FROM runs WHERE lease_until IS NOT NULL",
  );
  return () => withStorageErrors(() => rowsSchema.parse(unfinished.all()));
}

const rowsSchema = z.array(executionInputSchema);

export type SchedulerDeps = TickLoopDeps & { unfinishedRuns: () => ExecutionInput[] };

/**
 * Scheduler of one machine. It stores nothing itself: a run continues from its record, whichever process had it before.
 */
export type Scheduler = Executions & {
  /** Continues each unfinished run. Call it when the process starts. */
  resume(): Promise<void>;
  /** Ends the wait of a run, whose record is read again and tells when it is due. */
  wake(runId: string): void;
  /**
   * Takes no further step, aborts tasks under way and waits for them, at most 10 s. The next start resumes the runs.
   */
  close(): Promise<void>;
};

/** Maximum wait for tasks that ignore their signal at shutdown. */
const closeGraceSeconds = 10;
/** Runs that begin in one turn of the event loop, which serves requests in between. */
const begunAtOnce = 100;

/**
 * Creates the scheduler. A run has one execution: a newer generation takes the place of the one before, after its check
 * under way. How many captures and model calls run together is decided by their turns, not here.
 */
export function createScheduler({ unfinishedRuns, ...deps }: SchedulerDeps): Scheduler {
  const runs = new Map<string, TickLoop>();
  const tasks = new Set<Promise<unknown>>();
  let isClosed = false;

  return {
    start: async (execution) => (follow(execution) ? 'started' : 'already'),
    stop: async ({ run_id: runId }) => end(runId),
    status: async ({ run_id: runId }) => (runs.has(runId) ? 'running' : undefined),
    runsHere: ({ run_id: runId }) => runs.has(runId),
    wake: (runId) => runs.get(runId)?.wake(),
    resume: async () => {
      for (const [index, execution] of unfinishedRuns().entries()) {
        if (index % begunAtOnce === begunAtOnce - 1) await setImmediate();
        follow(execution);
      }
    },
    close: async () => {
      isClosed = true;
      for (const runId of runs.keys()) end(runId);
      await waitForTasks(tasks, deps.clock);
    },
  };

  /** Returns false if the run is at this generation already. */
  function follow({ run_id: runId, generation }: ExecutionInput): boolean {
    const current = runs.get(runId);
    if (current) return current.begin(generation);
    if (isClosed) return true;
    const run = new TickLoop({ run_id: runId, generation }, deps, watchTask);
    runs.set(runId, run);
    void run.follow(() => {
      if (runs.get(runId) === run) runs.delete(runId);
    });
    return true;
  }

  function end(runId: string): void {
    const run = runs.get(runId);
    runs.delete(runId);
    run?.end();
  }

  function watchTask(settled: Promise<unknown>): void {
    tasks.add(settled);
    void settled.finally(() => tasks.delete(settled));
  }
}

async function waitForTasks(tasks: Iterable<Promise<unknown>>, clock: SchedulerDeps['clock']): Promise<void> {
  await waitAtMost<unknown>(
    closeGraceSeconds * 1000,
    Promise.all(tasks),
    () => undefined,
    (fire, delayMs) => clock.setTimer(new Date(clock.now().getTime() + delayMs), fire),
  );
}
