import type { Clock } from './clock.ts';
import { type Json, toJson } from './json.ts';
import { freeze } from '../freeze.ts';
import type { TaskOutcome } from './transition.ts';

/**
 * Function behind a Task's `Resource`. An error that it throws becomes the ASL error: `name` is the error name, `message` the
 * cause.
 */
export type TaskFunction = (input: unknown, signal: AbortSignal) => Promise<unknown>;

/** Maximum lengths in Step Functions; a longer cause could exceed the payload limit. */
const maxErrorLength = 256;
const maxCauseLength = 32_768;

export type TaskAttempt = {
  /** Task outcome. Resolves at the timeout even if the function keeps running; never rejects. */
  outcome: Promise<TaskOutcome>;
  /** Resolves when the function has ended. Never rejects. */
  settled: Promise<unknown>;
  abort(): void;
};

/** Calls a task's function once. After `timeoutSeconds` it aborts the signal, and the outcome is `States.Timeout`. */
export function startTask(
  run: TaskFunction,
  input: Json,
  timeoutSeconds: number | undefined,
  clock: Clock,
): TaskAttempt {
  const controller = new AbortController();
  // The input belongs to the execution, whose next attempt needs it unchanged.
  freeze(input);
  const settled = readOutcome(run, input, controller.signal);
  const timeout = Promise.withResolvers<TaskOutcome>();
  const cancelTimeout =
    timeoutSeconds === undefined
      ? () => {}
      : clock.setTimer(new Date(clock.now().getTime() + timeoutSeconds * 1000), () => {
          const cause = `The task took longer than ${timeoutSeconds} s`;
          timeout.resolve({ kind: 'failure', error: 'States.Timeout', cause });
          controller.abort(new Error(cause));
        });
  return {
    outcome: Promise.race([settled, timeout.promise]).finally(cancelTimeout),
    settled,
    abort() {
      cancelTimeout();
      controller.abort(new Error('The execution was stopped'));
    },
  };
}

async function readOutcome(run: TaskFunction, input: Json, signal: AbortSignal): Promise<TaskOutcome> {
  try {
    return { kind: 'result', result: toJson(await run(input, signal)) };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return {
      kind: 'failure',
      error: name.slice(0, maxErrorLength),
      cause: message.slice(0, maxCauseLength),
    };
  }
}
