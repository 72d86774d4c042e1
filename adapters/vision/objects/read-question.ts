import type { VisitQuestion } from '../../../core/ports/vision-model.ts';
import { findNoun } from '../condition/nouns.ts';
import { readTokens } from '../condition/read-tokens.ts';

/**
 * Reads a question about visits: how often, what was seen, when last, or whether something was there. Returns `null`
 * for another one.
 */
export function readVisitQuestion(question: string): VisitQuestion | null {
  const has = (pattern: RegExp) => pattern.test(question.toLowerCase());
  const day = has(/\btoday\b/) ? 'today' : has(/\byesterday\b/) ? 'yesterday' : null;
  if (has(/^\W*(?:who|why|where|which|whose)\b/)) return null;
  if (has(/\bhow (?:many|often)\b|\bnumber of\b|\bcount\b/)) return { asks: 'count', day };
  if (has(/^\W*what\b.*\b(?:happen|happened|see|saw|seen|there|came|come|moved|going on|notice|noticed)\b/))
    return { asks: 'what', day };
  if (has(/\bwhen\b|\bthe last time\b/)) return { asks: 'last', day };
  if (has(/^\W*(?:was|were|is|are|did|does|has|have|had)\b/)) return { asks: 'whether', day };
  return null;
}

/** Returns the names of the things that a text names, by which they are detected. */
export function readThings(text: string): string[] {
  return [...new Set(readTokens(text).flatMap((token) => findNoun(token)?.classes ?? []))];
}
