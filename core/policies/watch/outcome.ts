import type { CallerUse } from '../../records/caller.ts';
import type { Captured, Screening } from '../../sight/screening.ts';
import type { Look } from '../../sight/spans.ts';
import type { Judgement } from '../../tick/ask-model.ts';
import type { Reserved } from './budget.ts';

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

/** Returns true if the model was asked about a condition in an earlier moment of a capture, and did not judge it. */
export function lacksMoment(outcome: WatchOutcome, conditionId: string): boolean {
  if (outcome.kind !== 'judged') return false;
  const answers = outcome.earlier.flatMap((moment) => moment.answers);
  return answers.some(({ condition_id: id, verdict }) => id === conditionId && verdict === null);
}

/**
 * Returns the part of the time that a tick has seen. A scan without motion is quiet, though a check was forced; motion
 * of which a part was not judged claims nothing.
 */
export function readLook(outcome: WatchOutcome, newestAt: Date): Look | null {
  if (outcome.kind !== 'judged' && outcome.kind !== 'skipped') return null;
  const { scan, moved, moments = [], black } = outcome.captured;
  const scannedSeconds = scan?.covered_seconds ?? 0;
  const isStill = !moved && moments.length === 0 && !scan?.leaves_motion;
  if (scannedSeconds > 0 && isStill) return { class: 'quiet', at: newestAt, scannedSeconds };
  if (outcome.kind === 'skipped') return null;
  const judged = [...outcome.earlier, ...(black ? [] : [outcome])].map(({ answers }) =>
    answers.some(({ verdict }) => verdict !== null),
  );
  const isJudged = judged.every(Boolean) && moments.length === outcome.earlier.length && !scan?.leaves_motion;
  return isJudged ? { class: 'judged', at: newestAt, scannedSeconds } : null;
}
