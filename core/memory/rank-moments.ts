import type { QueryStems } from '../ports/moment-store.ts';
import type { Moment } from '../records/moment.ts';
import { toStems } from './stems.ts';

/** Fields of a moment that a search in words reads. */
export type MatchedMoment = Pick<Moment, 'moment_id' | 'watch_id' | 'at' | 'verdicts' | 'scene' | 'objects'>;

/** Moment with the rank of its words. `denies`: it says that one of them is not there, and of none that it is. */
export type RankedMoment = { moment: MatchedMoment; score: number; denies: boolean };

/**
 * Weight of a word that the model adds, and of a word about what is not in the picture: an explanation of "no" often
 * names it.
 */
const addedWeight = 0.5;
const deniedWeight = 0.2;

/**
 * Ranks moments by the words of a query, best first: a rare word counts more than one that most of them have, the newer
 * of two equal ones is first.
 */
export function rankMoments(moments: readonly MatchedMoment[], { own, added }: QueryStems): RankedMoment[] {
  const weights = new Map([
    ...added.map((stem) => [stem, addedWeight] as const),
    ...own.map((stem) => [stem, 1] as const),
  ]);
  const texts = moments.map((moment) => ({ moment, ...readTexts(moment) }));
  const counts = new Map<string, number>();
  for (const { shown, denied } of texts)
    for (const stem of new Set([...shown, ...denied])) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const value = (stem: string) =>
    (weights.get(stem) ?? 0) * Math.log(1 + moments.length / (counts.get(stem) ?? 1));
  return texts
    .map(({ moment, shown, denied }) => ({
      moment,
      score: [...weights.keys()].reduce(
        (sum, stem) => sum + (shown.has(stem) ? 1 : denied.has(stem) ? deniedWeight : 0) * value(stem),
        0,
      ),
      denies: deniesWords(moment, shown, weights),
    }))
    .toSorted((a, b) => b.score - a.score || (a.moment.at < b.moment.at ? 1 : -1));
}

/** Returns the stems of what a moment shows, and of the explanations of conditions that are not known to hold. */
function readTexts({ verdicts, scene = '', objects = [] }: MatchedMoment) {
  const explanations = (isHeld: boolean) =>
    verdicts.flatMap(({ triggered, explanation }) => ((triggered === true) === isHeld ? [explanation] : []));
  return {
    shown: new Set(toStems([scene, ...objects, ...explanations(true)].join(' '))),
    denied: new Set(toStems(explanations(false).join(' '))),
  };
}

/** Words that deny what their clause names: "no stop sign is visible", but not "a van is there, but no parcel". */
export const negation = /\b(?:no|not|nobody|none|nothing|neither|nor|never|without|cannot)\b|n['’]t\b/i;

function deniesWords(
  { verdicts }: MatchedMoment,
  shown: ReadonlySet<string>,
  words: ReadonlyMap<string, number>,
): boolean {
  if ([...words.keys()].some((stem) => shown.has(stem))) return false;
  return verdicts.some(
    ({ triggered, explanation }) =>
      triggered === false &&
      explanation
        .split(/[.,;:!?]|\bbut\b/i)
        .some((clause) => negation.test(clause) && toStems(clause).some((stem) => words.has(stem))),
  );
}
