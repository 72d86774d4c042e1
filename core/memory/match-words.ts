import type { QueryStems, WordMatch, WordMatches } from '../ports/moment-store.ts';
import { momentText, type Moment } from '../records/moment.ts';
import { rankMoments, type MatchedMoment } from './rank-moments.ts';
import { toStems } from './stems.ts';

/** Moments before a match that are looked through for one that lacks the words: those of one capture, and one more. */
export const maxLookedBack = 4;

/** Moment before a match: whether it lacks the words, and whether it says what it shows, which few are asked. */
export type Neighbor = { at: Date; isMatch: boolean; isDescribed: () => boolean };

/** Returns the newest moments with a word of a query, from all moments of a span in any order. */
export function matchWords(moments: readonly Moment[], stems: QueryStems, limit: number): WordMatches {
  const wanted = new Set([...stems.own, ...stems.added]);
  const hasWord = (moment: Moment) => toStems(momentText(moment)).some((stem) => wanted.has(stem));
  const newest = moments
    .map((moment) => ({ moment, isMatch: wanted.size > 0 && hasWord(moment) }))
    .toSorted((a, b) => (a.moment.at < b.moment.at ? 1 : -1));
  const byWatch = Map.groupBy(newest, ({ moment }) => moment.watch_id);
  const neighbors = new Map<MatchedMoment, Neighbor[]>();
  for (const entries of byWatch.values()) {
    const all = entries.map(({ moment, isMatch }) => toNeighbor(moment, isMatch));
    for (const [index, { moment, isMatch }] of entries.entries())
      if (isMatch) neighbors.set(moment, all.slice(index + 1, index + 1 + maxLookedBack));
  }
  const matches = newest.flatMap(({ moment, isMatch }) => (isMatch ? [moment] : []));
  const kept = matches.slice(0, limit);
  const readFrom = matches.length > limit ? (kept.at(-1)?.at ?? null) : null;
  return {
    matches: toMatches(kept, stems, (moment) => neighbors.get(moment) ?? []),
    read: readFrom === null ? moments.length : moments.filter(({ at }) => at >= readFrom).length,
    readFrom,
  };
}

function toNeighbor({ at, scene }: Moment, isMatch: boolean): Neighbor {
  return { at: new Date(at), isMatch, isDescribed: () => scene !== undefined };
}

/** Ranks moments with a word. `before` returns the moments of a watch before one, newest first. */
export function toMatches(
  matches: readonly MatchedMoment[],
  stems: QueryStems,
  before: (moment: MatchedMoment) => readonly Neighbor[],
): WordMatch[] {
  return rankMoments(matches, stems).map(({ moment, score, denies }) => {
    const { moment_id, watch_id, at, scene } = moment;
    const denied = before(moment).find(
      ({ isMatch, isDescribed }) => !isMatch && (scene === undefined || isDescribed()),
    );
    return { moment_id, watch_id, at, score, denies, denied_at: denied?.at.toISOString() ?? null };
  });
}
