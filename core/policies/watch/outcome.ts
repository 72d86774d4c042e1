import type { CallerUse } from '../../records/caller-use.ts';
import type { Captured, Screening } from '../../sight/screening.ts';
import type { Judgement } from '../../tick/ask-model.ts';
import type { Reserved } from './budget.ts';

/** Outcome of a watch's tick. */
export type WatchOutcome =
  | Exclude<Screening, { kind: 'fresh' | 'no_capture' }>
  /** No capture was due, or another tick or another stream came before its verdicts: then only their cost counts. */
  | ({ kind: 'no_capture' } & Partial<Charge>)
  | ({ kind: 'judged'; captured: Captured } & Charge & Omit<Judgement, 'calls'>)
  /** Fresh, but the day's budget does not cover the calls, or the model has no price. */
  | { kind: 'not_asked'; captured: Captured; why: 'budget' | 'price' };

/** Use of a check's calls, and what was reserved for them. */
export type Charge = { used: CallerUse; reserved?: Reserved | undefined };

/** Returns true if the model has judged a condition in a frame of the capture. */
export function hasVerdict({ answers, earlier }: Extract<WatchOutcome, { kind: 'judged' }>): boolean {
  return [answers, ...earlier.map((moment) => moment.answers)].flat().some(({ verdict }) => verdict !== null);
}
