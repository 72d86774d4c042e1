import type { EarlierMotion } from '../../../core/records/motion.ts';
import type { Differences } from './changed-pixels.ts';
import type { ThumbnailWork } from './prepare-thumbnail.ts';
import type { DecodedState, Learned } from './state-codec.ts';

/** Comparison of one thumbnail, with what it teaches about noise. */
type Compared = {
  moved: boolean;
  changedShare: number;
  black: boolean;
  identicalToPrevious: boolean;
  learned: Learned;
};
type Compare<Result> = (work: ThumbnailWork, learned: Learned, differences: Differences) => Result;

/**
 * Compares earlier thumbnails and then the newest one with the motion reference, in the order of their times, so that noise is learned from each. In a quiet
 * scene that is one comparison for each: thumbnails of which one alone differs from the reference differ from each other. A black one is no news.
 */
export function compareSeries<Result extends Compared>(
  earlier: readonly ThumbnailWork[],
  newestWork: ThumbnailWork,
  remembered: DecodedState,
  compare: Compare<Result>,
): { newest: Result; series: EarlierMotion[] } {
  let { learned } = remembered;
  let isStill = true;
  let news: { work: ThumbnailWork; moved: boolean } | undefined;
  const differ = (one: ThumbnailWork, other: ThumbnailWork): boolean =>
    compare(one, learned, one.measureFrom(other)).moved;
  const compared = earlier.map((work) => {
    const found = compare(work, learned, work.measure(remembered));
    const { moved, changedShare, black } = found;
    const differs = news === undefined ? moved : news.moved !== moved || (moved && differ(work, news.work));
    const isNews = differs && !black;
    if (isNews) news = { work, moved };
    ({ learned } = found);
    isStill &&= found.identicalToPrevious;
    return { work, motion: { moved, isNews, changedShare, black } };
  });
  const newest = compare(newestWork, learned, newestWork.measure(remembered));
  ({ learned } = newest);
  const series = compared.map(({ work, motion }) => ({
    ...motion,
    likeNewest: motion.moved === newest.moved && !(motion.moved && differ(work, newestWork)),
  }));
  return { newest: { ...newest, identicalToPrevious: isStill && newest.identicalToPrevious }, series };
}
