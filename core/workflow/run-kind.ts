import type { Run } from '../records/run.ts';
import type { CaptureOutput, TickInput } from '../records/workflow.ts';
import type { conflict } from '../retry-conflicts.ts';

/** Result of the first part of a tick; `again` after a commit of its own, which made the stored run outdated. */
export type Observed<Outcome> = { outcome: Outcome; again?: boolean } | typeof conflict;

/** Run that was read, and when. */
export type Read<Stored> = { stored: Stored; at: Date };

/**
 * Runs of one resource: their storage, and the decisions of their policy. `analyze` is the same for all of them; what it asks here either decides or
 * stores, and is repeated after a conflict.
 */
export interface RunKind<Stored extends Run, Outcome, Change> {
  find(id: string): Promise<Stored | undefined>;
  /** Returns true if no execution has a further tick: the job has ended, the watch is paused. */
  isOver(stored: Stored): boolean;
  intervalSeconds(stored: Stored): number;
  /** Returns the time of the next tick. */
  wakeAt(stored: Stored, now: Date): Date;
  /** Screens the capture, and does the work of the policy: a check, a summary, or nothing. */
  observe(read: Read<Stored>, input: TickInput, signal?: AbortSignal): Promise<Observed<Outcome>>;
  /** Does the work that depends on the newest state: it is planned again after a conflict. */
  complete(read: Read<Stored>, outcome: Outcome, signal?: AbortSignal): Promise<Outcome>;
  /** Returns true if the outcome is counted even if another tick came first: a caller pays for its model calls. */
  countsLate(outcome: Outcome): boolean;
  /** Decides. Plans the one transaction of the tick. */
  plan(read: Read<Stored>, outcome: Outcome, tick: { input: TickInput; stretch: number }): Promise<Change>;
  /** Stores the pictures that a change refers to, before its commit. Returns their keys. */
  storeEvidence(stored: Stored, outcome: Outcome, change: Change, input: TickInput): Promise<string[]>;
  commit(change: Change): Promise<'committed' | 'outdated'>;
  after(stored: Stored, change: Change): Stored;
  /** Returns the keys of media that nothing refers to any more. */
  unreferenced(before: Stored, after: Stored, captured: CaptureOutput): string[];
  /** Counts and logs a committed tick. */
  report(after: Stored, outcome: Outcome): Promise<void>;
  /**
   * Takes the next burst number, or starts what is pending. Returns undefined after a conflict, else the run, and whether its first tick captures
   * nothing.
   */
  begin(stored: Stored, bursts: boolean): Promise<{ stored: Stored; closing: boolean } | undefined>;
}
