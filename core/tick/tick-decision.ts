import type { DigestState } from '../records/digest-state.ts';
import type { NewEvent } from '../records/event.ts';
import type { Counters, Failure, NextTick, StopReason, TickState } from '../records/job.ts';
import type { TerminalStatus } from '../records/transitions.ts';

export type JobEnding = { status: TerminalStatus; reason: StopReason; failure?: Failure };

export type TickDecision = {
  counters: Counters;
  watch: TickState;
  /** New digest state; absent for monitors. */
  digest?: DigestState;
  /** Progress, alerts and summaries; the events of the end are the end's own. */
  events: NewEvent[];
  next: NextTick;
  ending: JobEnding | undefined;
};
