import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import type { PixelCondition } from '../condition/condition.ts';
import { holds, type Moment } from './evaluate.ts';
import {
  configureVlmHint,
  describeFrame,
  disclosure,
  instrumentFor,
  unmeasurableReason,
  withDisclosure,
} from './explain.ts';
import { parseMeasurements } from '../condition/parse-condition.ts';

/** Frame with its time in the clip, in seconds, or null for the frame of the capture. */
export type TimedMoment = Moment & { atSeconds: number | null };

/** Result of a condition on several frames. */
export type Judgement = {
  /** Null if pixels do not decide the condition. */
  holds: boolean | null;
  explanation: string;
};

/** Evaluates a condition. It holds if it holds in one of the frames. */
export function judgeMoments(text: string, moments: [TimedMoment, ...TimedMoment[]]): Judgement {
  const { condition, notJudged } = parseMeasurements(text);
  if (condition === null) return cannotJudge(moments[0]);
  const found = moments.find((moment) => holds(condition, moment) === true);
  const moment = found ?? moments.at(-1) ?? moments[0];
  return {
    holds: found === undefined ? holds(condition, moment) : true,
    explanation: explain(condition, moment, notJudged),
  };
}

function cannotJudge({ picture }: TimedMoment): Judgement {
  return {
    holds: null,
    explanation: `Cannot be checked: ${unmeasurableReason}. ${configureVlmHint} ${describeFrame(picture)} ${disclosure}`,
  };
}

function explain(condition: PixelCondition, moment: TimedMoment, ignored: UnjudgedPart[]): string {
  const when = moment.atSeconds === null ? [] : [`At ${moment.atSeconds.toFixed(1)} s of the clip:`];
  const left = [...new Set(ignored.map(({ words }) => words))]
    .slice(0, 6)
    .map((word) => `"${word.slice(0, 30)}"`);
  const notJudged = left.length === 0 ? [] : [`Not checked: ${left.join(', ')}.`];
  const facts = instrumentFor(condition, moment).slice(0, 4);
  return withDisclosure([...when, ...facts, ...notJudged], disclosure);
}
