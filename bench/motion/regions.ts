import type { Region } from '../../core/records/capture.ts';
import { isWatched } from '../../core/records/region.ts';
import { compareMotion } from '../../adapters/media/motion/compare-motion.ts';
import { asInAJob } from './detectors.ts';
import { picture, type Scene, type SceneEvent } from './scene.ts';
import { type Clip, foundEvents, savedTicks, sum, type Tally, tallyFindings } from './score.ts';

/** Results of the pre-filter with one region. */
export type RegionOutcome = {
  name: string;
  /** Events inside of the region that were detected in time. */
  recall: Tally;
  /** Events outside of the region that were ignored. */
  ignored: Tally;
  /** Skipped checks of still scenes. */
  savings: Tally;
};

const rectangle = (left: number, top: number, right: number, bottom: number): Region => ({
  mode: 'include',
  points: [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ],
});

const regions: Record<string, Region[]> = {
  'left half': [rectangle(0, 0, 0.5, 1)],
  'lower half': [rectangle(0, 0.5, 1, 1)],
  'middle, a quarter of the frame': [rectangle(0.25, 0.25, 0.75, 0.75)],
  'all but the middle': [{ ...rectangle(0.3, 0.3, 0.7, 0.7), mode: 'exclude' }],
};

/** Events of things with at least this share of the frame are counted. */
const minShare = 0.01;
/** Things nearer to the border of a region count neither as inside nor as outside; a share of the frame. */
const margin = 0.03;

/** Evaluates the pre-filter of a job with each region on all clips. */
export function evaluateRegions(clips: readonly Clip[]): RegionOutcome[] {
  return Object.entries(regions).map(([name, watched]) => {
    const newDetector = () => asInAJob((thumbnail, state) => compareMotion(thumbnail, state, watched));
    const eventful = clips.filter(({ scene }) => scene.events.length > 0);
    const found = eventful.flatMap((clip) =>
      foundEvents(clip, newDetector())
        .filter(({ event }) => event.share >= minShare)
        .map((each) => ({ ...each, points: listPoints(clip.scene, each.event) })),
    );
    const watches = ([x, y]: Point): boolean => isWatched(watched, x, y);
    const still = clips.filter(({ scene }) => scene.events.length === 0);
    const inside = found.filter(({ points }) => points.every(watches));
    const outside = found.filter(({ points }) => !points.some(watches));
    return {
      name,
      recall: tallyFindings(inside),
      ignored: tallyFindings(outside.map((each) => ({ ...each, seen: !each.seen }))),
      savings: sum(still.map((clip) => savedTicks(clip, newDetector()))),
    };
  });
}

type Point = readonly [x: number, y: number];

/** Returns points of the frame where the thing of an event is, and around it, from the tick before the event to its end. */
function listPoints({ things, shake }: Scene, { fromTick, byTick }: SceneEvent): Point[] {
  return things.flatMap(({ width, height, places }) =>
    places
      .filter((place) => place.fromTick <= byTick && place.toTick >= fromTick - 1)
      .flatMap(({ x, y }) => {
        const columns = sample(x - shake, x + width + shake, picture.width);
        const rows = sample(y - shake, y + height + shake, picture.height);
        return columns.flatMap((column) => rows.map((row): Point => [column, row]));
      }),
  );
}

const samples = 9;

/** Returns points from `from` to `to` with the margin, inside of the frame, as shares of its size. */
function sample(from: number, to: number, size: number): number[] {
  const [begin, end] = [from / size - margin, to / size + margin];
  return Array.from({ length: samples }, (_, index) =>
    Math.min(Math.max(begin + ((end - begin) * index) / (samples - 1), 0.001), 0.999),
  );
}
