import type { Json } from './json.ts';

/** Where a running execution stands: all that is needed to go on after a crash. */
export type Position = {
  status: 'running';
  /** Name of the current state. */
  state: string;
  /** The current state's input. */
  data: Json;
  /** How often each retrier of the current state has retried since the state was entered; empty before the first retry. */
  attempts: number[];
  /** When this position was taken. */
  since: Date;
  /** Nothing happens before this time: a Wait state, or a retry that is due later. */
  wakeAt: Date | null;
};

/** How an execution ended. */
export type ExecutionEnding = {
  status: 'succeeded' | 'failed' | 'aborted';
  /** The state in which it ended. */
  state: string;
  /** The execution's output if it succeeded, else the input of the state in which it ended. */
  data: Json;
  error: string | null;
  cause: string | null;
  stoppedAt: Date;
};

export type Progress = Position | ExecutionEnding;

/** One step of an execution. `entered`: it entered `progress.state`, rather than retrying or failing in it. */
export type Transition = { progress: Progress; entered: boolean };
