import type { Failure } from '../job.ts';
import type { Verdict } from '../vision.ts';
import type { LookPlan } from './look.ts';

/** What a tick came to: the plan, and where it was to look, the model's verdict or its failure. */
export type TickOutcome =
  | Exclude<LookPlan, { kind: 'look' }>
  | { kind: 'looked'; verdict: Verdict; captured: Extract<LookPlan, { kind: 'look' }>['captured'] }
  | { kind: 'missed'; failure: Failure; captured: Extract<LookPlan, { kind: 'look' }>['captured'] };
