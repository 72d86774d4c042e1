import type { WordMatch } from '../ports/moment-store.ts';
import { type Moment, nameCapture } from '../records/moment.ts';
import { type Candidate, maxCandidates } from './search-cursor.ts';
import type { SearchedWatch } from './searched-watches.ts';
import { toStems } from './stems.ts';
import { findVisits, type Visit } from './visits.ts';

/**
 * Chooses the best moment of each visit by words: the best one of each watch first, then the second ones, so that one
 * watch does not take all pictures of the others. A moment that lacks the words, or denies them, splits a visit, as far
 * as the store has read. Moments that deny come last: they can name what else is there.
 */
export function chooseCandidates(
  matches: readonly WordMatch[],
  watches: readonly SearchedWatch[],
): Candidate[] {
  const byWatch = Map.groupBy(matches, ({ watch_id: id }) => id);
  const best = watches.flatMap(({ watch, spans }) =>
    findVisits(withDenials(byWatch.get(watch.run_id) ?? []), spans, isOfVisit)
      .map((visit) => ({ visit, match: bestMatch(visit.moments.flatMap(({ match }) => match ?? [])) }))
      .toSorted(byWords)
      .map((each, rank) => ({ ...each, rank })),
  );
  return best
    .toSorted((a, b) => +denies(a) - +denies(b) || a.rank - b.rank || byWords(a, b))
    .slice(0, maxCandidates)
    .flatMap(({ visit, match }) => (match ? [toCandidate(visit, match.moment_id)] : []));
}

function isOfVisit({ match }: Entry, first: Entry | undefined): boolean {
  return match !== null && (first === undefined || first.match?.denies === match.denies);
}

function denies({ match }: Ranked): boolean {
  return match?.denies ?? true;
}

type Ranked = { visit: Visit<unknown>; match: WordMatch | undefined };

function byWords(one: Ranked, other: Ranked): number {
  const byScore = (other.match?.score ?? 0) - (one.match?.score ?? 0);
  return +denies(one) - +denies(other) || byScore || +other.visit.to - +one.visit.to;
}

type Entry = { at: string; moment_id: string; match: WordMatch | null };

function withDenials(matches: readonly WordMatch[]): Entry[] {
  return matches
    .flatMap((match): Entry[] => [
      { at: match.at, moment_id: match.moment_id, match },
      ...(match.denied_at === null ? [] : [{ at: match.denied_at, moment_id: '', match: null }]),
    ])
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

function bestMatch(matches: readonly WordMatch[]): WordMatch | undefined {
  return matches.toSorted((a, b) => b.score - a.score)[0];
}

/**
 * Chooses a moment of each visit, whatever its words, newest first: the middle one of those that have a picture.
 * `moments` are of one watch, newest first.
 */
export function chooseOfEachVisit(
  moments: readonly Moment[],
  spans: SearchedWatch['spans'],
): { visit: Visit<Moment>; candidate: Candidate }[] {
  return findVisits(moments.toReversed(), spans, isAlike)
    .toReversed()
    .flatMap((visit) => {
      const shown = visit.moments.filter(({ frame_key: key }) => key !== null);
      const middle = pickMiddle(shown) ?? pickMiddle(visit.moments);
      return middle ? [{ visit, candidate: toCandidate(visit, middle.moment_id) }] : [];
    });
}

function pickMiddle(moments: readonly Moment[]): Moment | undefined {
  return moments[Math.floor(moments.length / 2)];
}

/** Share of words that two descriptions of the same have in common at least. */
const minCommonWords = 0.5;

/**
 * Returns true if two moments show the same, as far as verdicts and descriptions say. A moment without a description
 * was chosen because it shows something else than the newest frame of its capture, and belongs to others of that
 * capture only.
 */
function isAlike(moment: Moment, first: Moment | undefined): boolean {
  if (first === undefined || first === moment) return true;
  if (listHeld(moment) !== listHeld(first)) return false;
  if (moment.scene === undefined || first.scene === undefined)
    return moment.scene === first.scene && nameCapture(moment) === nameCapture(first);
  const [one, other] = [new Set(toStems(describe(moment))), new Set(toStems(describe(first)))];
  const common = [...one].filter((stem) => other.has(stem)).length;
  return common >= minCommonWords * (one.size + other.size - common);
}

function listHeld({ verdicts }: Moment): string {
  const held = verdicts.filter(({ triggered }) => triggered);
  return held.map(({ condition_id: id }) => id).join(' ');
}

function describe({ scene = '', objects = [] }: Moment): string {
  return [scene, ...objects].join(' ');
}

function toCandidate(visit: Visit<unknown>, id: string): Candidate {
  const { from, to, openBegin, openEnd } = visit;
  return { id, from: from.getTime(), to: to.getTime(), open: [openBegin, openEnd] };
}
