import type { VisitQuestion } from '../../../core/ports/vision-model.ts';
import { negation } from '../../../core/memory/rank-moments.ts';
import { findNoun } from '../condition/nouns.ts';
import { readTokens } from '../condition/read-tokens.ts';

/**
 * Reads a question about visits: how often, what was seen, when last, or whether something was there. Returns `null`
 * for another one, also about when something was not there: visits do not answer that.
 */
export function readVisitQuestion(question: string): VisitQuestion | null {
  const has = (pattern: RegExp) => pattern.test(question.toLowerCase());
  const day = has(/\btoday\b/) ? 'today' : has(/\byesterday\b/) ? 'yesterday' : null;
  if (negation.test(question.replaceAll(denyingNothing, ''))) return null;
  if (has(/^\W*(?:who|why|where|which|whose)\b/)) return null;
  if (has(/\bhow (?:many|often)\b|\bnumber of\b|\bcount\b/)) return { asks: 'count', day };
  if (has(whatQuestion)) return { asks: 'what', day };
  if (has(/\bwhen\b|\bthe last time\b/)) return { asks: 'last', day };
  if (has(/^\W*(?:was|were|is|are|did|does|has|have|had)\b/)) return { asks: 'whether', day };
  return null;
}

/** Phrases that deny nothing: "yes or no", "or not", "camera No. 5". */
const denyingNothing = /\byes or no\b|\bor not\b|\bno\.?\s?(?=\d)/gi;

/** A question about anything, not about a part or an act of a thing: "what did you see", but no "what color was". */
const whatQuestion =
  /^\W*what(?:'s|\s+(?:did|do|has|have|had|was|were|is|are|you|it|anybody|else|been|the|cameras?|watch))*\s+(?:happen(?:ed|ing)?|see|saw|seen|there|came|come|moved|going on|noticed?)\b/;

/** Returns the names of the things that a text names, by which they are detected. */
export function readThings(text: string): string[] {
  return [...new Set(readTokens(text).flatMap((token) => findNoun(token)?.classes ?? []))];
}
