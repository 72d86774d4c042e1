import { jobLog, type Log } from '../../../core/ports/log.ts';
import type { Clock } from './clock.ts';
import type { Workflow } from './definition.ts';
import type { ExecutionStore, StoredExecution } from './execution-store.ts';
import type { Json } from './json.ts';
import type { Transition, Position } from './progress.ts';
import { startTask, type TaskFunction } from './task-attempt.ts';
import { abortExecution, type Action, applyTaskOutcome, followTransition, nextAction } from './transition.ts';

/** Transition into a state. */
export type TransitionEvent = { execution: string; state: string; input: Json };

export type ExecutionRunDeps = {
  workflow: Workflow;
  resources: ReadonlyMap<string, TaskFunction>;
  store: ExecutionStore;
  clock: Clock;
  /** Random number from 0 to below 1. */
  random: () => number;
  log: Log;
  onTransition?: (event: TransitionEvent) => void;
  /** Called with every task call and the promise of its end. */
  onTask: (settled: Promise<unknown>) => void;
};

/** Running execution of this process. */
export type ExecutionRun = {
  /** Continues from the stored position. */
  go(): void;
  /** Ends the execution as aborted: aborts its task and drops a late result. */
  stop(cause: string): void;
  /** Takes no further step; the stored position stays for the next start. */
  close(): void;
};

/** Delays between attempts to store a transition: 1, 2, 4 … 30 s. */
const maxWritePauseSeconds = 30;

/**
 * Runs one execution from `from` to its end and stores the position before each wait, and the result of each task before the next step. Then calls
 * `onOver`.
 */
export function createExecutionRun(
  { name, input }: Pick<StoredExecution, 'name' | 'input'>,
  from: Position,
  { workflow, resources, store, clock, random, log, onTransition, onTask }: ExecutionRunDeps,
  onOver: () => void,
): ExecutionRun {
  let position = from;
  let failedWrites = 0;
  /** Cancels the timer or task that the run waits for. */
  let letGo: (() => void) | undefined;

  return {
    go: step,
    stop(cause) {
      letGo?.();
      record(abortExecution(position, cause, clock.now()));
    },
    close: () => letGo?.(),
  };

  function step(): void {
    const action = nextAction(workflow, position, clock.now());
    switch (action.kind) {
      case 'wait':
        letGo = clock.setTimer(action.until, () => {
          position = { ...position, wakeAt: null };
          step();
        });
        break;
      case 'run':
        void runTask(action);
        break;
      case 'move':
        if (!isRepeatable(action.move)) return record(action.move);
        take([action.move]);
        step();
        break;
    }
  }

  /** The end of a wait needs no write: an execution that resumes at the wait finds it over. */
  function isRepeatable({ progress }: Transition): boolean {
    return progress.status === 'running' && progress.wakeAt === null && progress.data === position.data;
  }

  function take(moves: readonly Transition[]): void {
    for (const { progress, entered } of moves) {
      if (entered) onTransition?.({ execution: name, state: progress.state, input: progress.data });
      if (progress.status === 'running') position = progress;
    }
  }

  async function runTask(task: Extract<Action, { kind: 'run' }>): Promise<void> {
    const run = resources.get(task.resource);
    if (run === undefined) throw new Error(`No function for ${task.resource}`);
    const attempt = startTask(run, task.payload, task.timeoutSeconds, clock);
    onTask(attempt.settled);
    let dropped = false;
    letGo = () => {
      dropped = true;
      attempt.abort();
    };
    const outcome = await attempt.outcome;
    if (!dropped) record(applyTaskOutcome(workflow, position, outcome, clock.now(), random));
  }

  /** Stores a transition, with those that follow it immediately, and continues. Retries until the store accepts it (full disk, locked file). */
  function record(move: Transition): void {
    const moves = followTransition(workflow, move, clock.now());
    const { progress } = moves.at(-1) ?? move;
    let stored: boolean;
    try {
      stored = store.save(name, progress, move.dataText);
    } catch (error) {
      postpone(move, error);
      return;
    }
    failedWrites = 0;
    if (stored) take(moves);
    if (!stored || progress.status !== 'running') onOver();
    else step();
  }

  function postpone(move: Transition, error: unknown): void {
    if (failedWrites === 0) {
      jobLog(log, input.job_id).error('Workflow progress could not be stored, retrying', {
        execution: name,
        error: error instanceof Error ? error.message : String(error),
      });
    }
    const pauseSeconds = Math.min(2 ** failedWrites, maxWritePauseSeconds);
    failedWrites += 1;
    const again = new Date(clock.now().getTime() + pauseSeconds * 1000);
    letGo = clock.setTimer(again, () => record(move));
  }
}
