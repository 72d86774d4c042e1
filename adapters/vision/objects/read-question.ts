import type { VisitQuestion } from '../../../core/ports/vision-model.ts';
import { negation } from '../../../core/memory/rank-moments.ts';
import { findNoun } from '../condition/nouns.ts';
import { readTokens } from '../condition/read-tokens.ts';
import { isFiller, movements, prepositions } from '../condition/vocabulary.ts';

/**
 * Reads a question about visits: how often, what was seen, when last, or whether something was there. Returns `null`
 * for another one, also about when something was not there: visits do not answer that.
 */
export function readVisitQuestion(question: string): VisitQuestion | null {
  const text = question.toLowerCase().replaceAll(denyingNothing, '').replaceAll('since when', 'when');
  const has = (pattern: RegExp) => pattern.test(text);
  if (negation.test(text) || has(/^\W*(?:who|why|where|which|whose)\b/)) return null;
  const [isToday, isYesterday] = [has(/\btoday\b/), has(/\byesterday\b/)];
  const day = isToday ? 'today' : isYesterday ? 'yesterday' : null;
  const unread = [...listUnread(text), ...(isToday && isYesterday ? ['yesterday'] : [])];
  const read = (asks: VisitQuestion['asks']): VisitQuestion => ({ asks, day, unread });
  if (has(/\bhow (?:many|often)\b|\bnumber of\b|\bcount\b/)) return read('count');
  if (has(whatQuestion)) return read('what');
  if (has(/\bwhen\b|\bthe last time\b/)) return read('last');
  if (has(/(?:^|:)[^\w:]*(?:was|were|did|does|has|have|had)\b/)) return read('whether');
  // Visits do not say that it is there now, but when it was there last.
  return has(/(?:^|:)[^\w:]*(?:is|are)\b/) ? read('last') : null;
}

/** Phrases that deny nothing: "yes or no", "or not". */
const denyingNothing = /\byes or no\b|\bor not\b/g;

/** A question about anything, not about a part or an act of a thing: "what did you see", but no "what color was". */
const whatQuestion =
  /^\W*what(?:'s|\s+(?:did|do|has|have|had|was|were|is|are|you|it|anybody|else|been|the|cameras?|watch))*\s+(?:happen(?:ed|ing)?|see|saw|seen|there|came|come|moved|going on|noticed?)\b/;

const askingWords = new Set(
  `how many often times time number of count what when happen happens happened happening saw you i we it last today
  yesterday and or , visit visits anything something moved going on noticed notice else camera cameras watch by past
  through passed walked drove ran ever yet total 's`.split(/\s+/),
);
/** Words of presence that say something else in a question. */
const otherWords = new Set(['will', 'can', 'who', 'which', 'stays', 'remains', 'waits']);

/** Lists the words of a question that visits do not answer: times, places, colors and acts, and other languages. */
function listUnread(text: string): string[] {
  const unread = readTokens(text).filter(
    (token) =>
      otherWords.has(token) ||
      !(askingWords.has(token) || isFiller(token) || movements.has(token) || findNoun(token)),
  );
  const words = unread.map((token) => token.replaceAll('_', ' ').replace('#', '').replace('-', ' ').trim());
  const others = words.filter((word) => !prepositions.has(word));
  return others.length > 0 ? others : words;
}

/** Returns the things that a text names, each by the names by which it is detected. */
export function readThings(text: string): string[][] {
  const things = readTokens(text).flatMap((token) => {
    const { classes } = findNoun(token) ?? {};
    return classes ? [[...classes]] : [];
  });
  return [...new Map(things.map((names) => [names.join(), names])).values()];
}
