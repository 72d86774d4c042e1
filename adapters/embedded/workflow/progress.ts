import type { Json } from './json.ts';

/** Position of a running execution: everything needed to resume after a crash. */
export type Position = {
  status: 'running';
  /** Name of the current state. */
  state: string;
  /** The current state's input. */
  data: Json;
  /** Retries of each retrier of the current state since it was entered; empty before the first retry. */
  attempts: number[];
  /** Time at which the execution reached this position. */
  since: Date;
  /** Time before which no step runs: a Wait state or a delayed retry. */
  wakeAt: Date | null;
};

/** Status of an ended execution. */
export type ExecutionEnding = {
  status: 'succeeded' | 'failed' | 'aborted';
  /** State in which the execution ended. */
  state: string;
  /** Output if the execution succeeded, else the input of its last state. */
  data: Json;
  error: string | null;
  cause: string | null;
  stoppedAt: Date;
};

export type Progress = Position | ExecutionEnding;

/** Transition of an execution. */
export type Transition = {
  progress: Progress;
  /** True if it entered `progress.state`, rather than retrying or failing in it. */
  entered: boolean;
  /** JSON of `progress.data`, if the transition has computed it. */
  dataText?: string;
};
