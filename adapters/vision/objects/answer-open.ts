import { listParts, type ObjectsAtom } from '../condition/condition.ts';
import { findNoun } from '../condition/nouns.ts';
import { parseCondition } from '../condition/parse-condition.ts';
import { readTokens } from '../condition/read-tokens.ts';
import { disclosure } from '../../../core/disclosure.ts';
import { describeFrame } from '../pixel/explain.ts';
import { readMoments } from '../pixel/read-moments.ts';
import {
  describeColors,
  describeObjects,
  explainCondition,
  explainNotJudged,
  formatNotJudged,
} from './explain-objects.ts';
import { namesObjects, type ObjectMoment } from './judge-objects.ts';
import type { BuiltInDeps } from './object-moments.ts';

/** Returns true for a question without a yes or no answer, such as "what color" or "describe". */
export function isOpen(question: string): boolean {
  return /^\s*(?:please\s+)?(?:what|which|how|where|who|whose|why|when|describe|list|tell|count|name|explain|summari[sz]e)\b/i.test(
    question,
  );
}

/** Answers an open question: "how many cars are there?". */
export async function answerOpen(
  frame: Uint8Array,
  question: string,
  { reader, decoder }: BuiltInDeps,
  signal: AbortSignal,
): Promise<string> {
  const media = { mode: 'frames', frame } as const;
  const describe = async () => describeFrame((await readMoments(media, decoder, signal))[0].picture);
  const nouns = readNouns(question);
  // "How dark is it?", "what color is the screen?"
  const isMeasured =
    /\b(?:colou?rs?|dark|bright|brightness|contrast)\b/i.test(question) && nouns.length === 0;
  if (reader === null || isMeasured) return `${await describe()} ${disclosure}`;
  const moment = await (await reader.readMedia(media, signal)).read(0);
  const counted = readCounted(question);
  if (counted !== null)
    return listParts(counted.condition).every(({ kind }) => kind === 'objects')
      ? explainCondition(counted.condition, moment, counted.notJudged)
      : `${explainNotJudged(null, counted.notJudged)} ${describeObjects(moment)}`;
  if (nouns.length > 0) return describeNouns(question, nouns, moment);
  const unknown = /\bhow many\b|\bcount\b/i.test(question) ? [`Not judged: '${question.trim()}'.`] : [];
  return [describeObjects(moment), ...unknown, await describe(), disclosure].join(' ');
}

function describeNouns(question: string, nouns: ObjectsAtom[], moment: ObjectMoment): string {
  const asksColor = /\bcolou?rs?\b/i.test(question);
  const described = nouns.map((atom) =>
    asksColor
      ? describeColors(atom, moment)
      : explainCondition(atom, moment, []).replace(` ${disclosure}`, ''),
  );
  const unanswered = asksColor
    ? []
    : [`Not judged: ${formatNotJudged([{ words: question.trim(), kind: 'words' }])}.`];
  return [...described, ...unanswered, disclosure].join(' ');
}

/** Returns the objects that a question names, each as an atom of at least one. */
function readNouns(question: string): ObjectsAtom[] {
  const nouns = readTokens(question).flatMap((token) => findNoun(token) ?? []);
  return nouns.map(({ classes }) => ({
    kind: 'objects',
    classes,
    compare: 'at least',
    count: 1,
    colors: [],
  }));
}

/** Reads what "how many white cars are there?" counts, or null. */
function readCounted(question: string) {
  const counted = /\b(?:how many|count(?: all)?(?: the)?|(?:number|count) of)\s(.*[^?.!\s])/i.exec(
    question,
  )?.[1];
  const { condition, notJudged } = parseCondition((counted ?? '').replace(/^of (?:the|these|those) /i, ''));
  return condition !== null && namesObjects(condition) ? { condition, notJudged } : null;
}
