import type { DigestState } from '../digest/digest-state.ts';
import type { NewEvent } from '../event.ts';
import type { Counters, Failure, Next, StopReason, WatchState } from '../job.ts';
import type { TerminalStatus } from '../transitions.ts';

export type Ending = { status: TerminalStatus; reason: StopReason; failure?: Failure };

export type TickDecision = {
  counters: Counters;
  watch: WatchState;
  /** Of digests only. */
  digest?: DigestState;
  /** Progress, alerts and summaries; the events of the end are the end's own. */
  events: NewEvent[];
  next: Next;
  ending: Ending | undefined;
};
