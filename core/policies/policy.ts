import type { RunChange } from '../ports/runs.ts';
import type { DestinationState } from '../records/delivery.ts';
import type { Scene } from '../records/moment.ts';
import type { Failure } from '../records/failure.ts';
import type { JobOf } from '../records/job.ts';
import type { Run } from '../records/run.ts';
import type { ClosureResult, WindowClosure } from '../records/window-closure.ts';
import type { CaptureOutput, TickInput } from '../records/workflow.ts';
import type { SeenOutcome } from '../sight/after-tick.ts';
import type { ConditionAnswer, Judgement, Questions } from '../tick/ask-model.ts';
import type { CheckMediaKeys } from '../tick/read-media.ts';

/** Result of the capture and the check of a tick, as far as its report needs it. Each policy has its own cases. */
export type Observation = {
  kind: SeenOutcome['kind'];
  failure?: Failure | null;
  message?: string;
  remediation?: string;
};

/** Moment of a capture, with the answers of the model about it. */
export type JudgedMoment = {
  frame_key: string;
  captured_at: string;
  answers: readonly ConditionAnswer[];
  scene?: Scene;
};

/** Committed tick, while the media of its capture and its evidence are stored. */
export type CommittedTick = {
  input: TickInput;
  seen: Observation;
  /** Moments that were judged, oldest first; of a watch. */
  moments: readonly JudgedMoment[];
  change: RunChange;
};

export type Check = CheckMediaKeys & {
  questions: Questions;
  /** Committed before the model is called, so that a crash during the calls cannot exceed a budget. */
  reservation?: RunChange;
};

/**
 * Work of a tick: nothing beyond its capture, or a check. `judged` returns what the tick saw after the check; its
 * `judgement` is undefined for a capture that was removed before.
 */
export type Work<Seen> =
  | { kind: 'seen'; seen: Seen }
  | ({ kind: 'check'; judged(judgement: Judgement | undefined): Seen } & Check);

export type Tick<Seen> = {
  input: TickInput;
  seen: Seen;
  /** Windows of a digest that end with the tick. */
  closed: ClosureResult | undefined;
  /** Time before the model was called. */
  askedAt: Date;
  /** Time at which the run was read. */
  readAt: Date;
  /** Factor of the interval in an overload, else 1. */
  stretch: number;
  /** States of the destinations of a watch; `null` if they cannot be read. */
  destinations: readonly DestinationState[] | null;
};

/** Frame to store under `key`: one of the clip at `atSeconds`, or the one that `frame_key` has. */
export type Evidence = { key: string; frame_key: string; clip_key: string | null; atSeconds?: number };

/** Media that a run refers to; one that is evidence of an event stays when the run no longer refers to it. */
export type Picture = { key: string; isEvidence: boolean };

/** Decisions about the runs of one policy. All are pure: effects belong to the steps of the workflow. */
export interface Policy<R extends Run, Seen extends Observation> {
  owns(run: Run): run is R;
  /** Returns true if no execution has a further tick: the job has ended, the watch is paused. */
  isOver(run: R): boolean;
  /**
   * True if a capture of a lost camera probes it first, on hosts that try it often: a capture of a camera that hangs
   * takes longer.
   */
  probesLost: boolean;
  /** Returns true if the next check is to confirm what the last one saw. */
  confirms(run: R): boolean;
  /** Returns true if motion may wake the run before its next check. Absent: never. */
  wakes?(run: R): boolean;
  /** Returns the time between two captures, in seconds. */
  interval(run: R): number;
  /** Returns the time of the next tick. */
  wakeAt(run: R, now: Date): Date;
  /** Returns the change that starts a pending run; undefined for one that has started. */
  begin(run: R, now: Date): RunChange | undefined;
  /** Returns true if the first tick captures nothing. */
  beginsClosed(run: R, now: Date): boolean;
  /** Screens a capture, and plans a check of it. */
  work(run: R, captured: CaptureOutput, now: Date): Work<Seen>;
  /**
   * Plans the windows that the tick closes. It is planned again after a conflict, because a concurrent change may have
   * closed some.
   */
  windows?(
    run: R,
    tick: Pick<Tick<Seen>, 'input' | 'seen' | 'askedAt'>,
    now: Date,
  ): WindowsToClose | undefined;
  /** Decides the tick, in the one transaction that commits it. */
  decide(run: R, tick: Tick<Seen>, now: Date): RunChange;
  /** Lists the moments that the model was asked about, oldest first. Absent for jobs. */
  moments?(seen: Seen): JudgedMoment[];
  /** Returns true if the tick is counted even if another one came first: the caller pays for its model calls. */
  countsLate(seen: Seen): boolean;
  pictures(run: R): Picture[];
  /** Returns the pictures to store before a change is committed that refers to them. */
  evidence(run: R, seen: Seen, change: RunChange): Evidence[];
  /**
   * Returns the ids of open alerts whose pictures are to be stored again, so that they do not expire before the alerts.
   */
  expiringAlerts?(run: R, change: RunChange, now: Date): string[];
}

export type WindowsToClose = { job: JobOf<'digest'>; closing: WindowClosure };
