import type { Failure } from '../../records/failure.ts';
import type { Screening } from '../../sight/screening.ts';
import type { Cost } from './budget.ts';
import type { Verdict } from './condition.ts';

type Captured = Extract<Screening, { kind: 'fresh' }>['captured'];

/** Answer of the model about one condition; `verdict` is `null` if it has none. */
export type ConditionAnswer = {
  condition_id: string;
  /** Text of the condition in the model call: an answer about an older text is dropped. */
  condition: string;
  verdict: Verdict | null;
  /** Reason of the model for no verdict; absent if it gave none. */
  unjudgedReason?: string;
  /** True if a joint call left the condition out, or named it twice. */
  leftOut: boolean;
  /** True if the call had several conditions. */
  joint: boolean;
};

/** Outcome of a watch's tick. */
export type WatchOutcome =
  | Exclude<Screening, { kind: 'fresh' }>
  | {
      kind: 'judged';
      captured: Captured;
      answers: ConditionAnswer[];
      used: Cost & { input_tokens: number; output_tokens: number };
      /** Failure of a call, if one failed. */
      failure: Failure | null;
      /** True if the model of this machine had too many images to judge: a call was omitted. */
      busy: boolean;
    }
  /** Fresh, but the day's budget does not cover the calls, or the model has no price. */
  | { kind: 'not_asked'; captured: Captured; why: 'budget' | 'price' };
