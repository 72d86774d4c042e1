import { expect, test, vi } from 'vitest';
import { compareMotion } from '../../../../adapters/media/motion/compare-motion.ts';
import { prepareThumbnail } from '../../../../adapters/media/motion/prepare-thumbnail.ts';
import { shareComparisons } from '../../../../adapters/media/motion/share-comparisons.ts';
import { decodeReference } from '../../../../adapters/media/motion/state-codec.ts';
import { motionTuning } from '../../../../adapters/media/motion/tuning.ts';
import { thumbnail, type Region } from '../../../../core/records/capture.ts';

/** Noisy thumbnail with a bright bar that moves with `tick`. */
function drawThumbnail(tick: number): Uint8Array {
  let seed = tick + 1;
  return new Uint8Array(thumbnail.bytes).map((_, at) => {
    seed = (seed * 48_271) % 2_147_483_647;
    const x = at % thumbnail.width;
    return (x >= tick * 9 && x < tick * 9 + 12 ? 200 : 90) + (seed % 9);
  });
}

function countedComparison() {
  const steps = {
    prepare: vi.fn(prepareThumbnail),
    decodeReference: vi.fn(decodeReference),
    measure: 0,
  };
  const prepare: typeof prepareThumbnail = (picture, tuning) => {
    const work = steps.prepare(picture, tuning);
    return {
      ...work,
      measure: (reference) => {
        steps.measure += 1;
        return work.measure(reference);
      },
    };
  };
  const { decodeReference: decode } = steps;
  return {
    compare: shareComparisons({ tuning: motionTuning, steps: { prepare, decodeReference: decode } }),
    steps,
  };
}

test('shared comparisons have the results of separate ones, for jobs with and without a common past', () => {
  const { compare } = countedComparison();
  const left: Region[] = [
    {
      mode: 'include',
      points: [
        [0, 0],
        [0.5, 0],
        [0.5, 1],
        [0, 1],
      ],
    },
  ];
  const jobs = [
    { from: 0, regions: [] },
    { from: 0, regions: [] },
    { from: 0, regions: left },
    { from: 2, regions: [] },
  ];
  const states: (string | null)[] = jobs.map(() => null);
  for (let tick = 0; tick < 8; tick += 1) {
    const picture = drawThumbnail(tick);
    for (const [at, { from, regions }] of jobs.entries()) {
      if (tick < from) continue;
      const state = states[at] ?? null;
      const shared = compare(picture, state, regions);
      expect(shared).toEqual(compareMotion(picture.slice(), state, regions));
      states[at] = (tick + at) % 3 === 0 ? shared.stateWithNewReference : shared.stateWithSameReference;
    }
  }
});

test('ten jobs with the same thumbnail and the same past are compared once', () => {
  const { compare, steps } = countedComparison();
  const before = compareMotion(drawThumbnail(0), null).stateWithNewReference;
  const picture = drawThumbnail(1);
  const results = Array.from({ length: 10 }, () => compare(picture, before));
  expect(new Set(results).size).toBe(1);
  expect(steps.prepare).toHaveBeenCalledTimes(1);
  expect(steps.measure).toBe(1);
});

test('jobs that have learned other noise share thumbnail, reference and distances', () => {
  const { compare, steps } = countedComparison();
  const pictures = [0, 1, 2].map(drawThumbnail);
  const newest = pictures.at(-1)!;
  const pasts = [[newest], [pictures[0]!, newest], [pictures[1]!, newest]];
  const states = pasts.map((past) =>
    past.reduce<string | null>((state, picture) => compareMotion(picture, state).stateWithNewReference, null),
  );
  expect(new Set(states).size).toBe(3);
  const picture = drawThumbnail(3);
  for (const state of states) compare(picture, state);
  expect(steps.prepare).toHaveBeenCalledTimes(1);
  expect(steps.decodeReference).toHaveBeenCalledTimes(1);
  expect(steps.measure).toBe(1);
});

test('equal thumbnails of two captures are compared one by one', () => {
  const { compare, steps } = countedComparison();
  compare(drawThumbnail(1), null);
  compare(drawThumbnail(1), null);
  expect(steps.prepare).toHaveBeenCalledTimes(2);
});

test('a series of thumbnails has the result of a separate comparison, and is compared once for all jobs', () => {
  const { compare, steps } = countedComparison();
  const before = compareMotion(drawThumbnail(0), null).stateWithNewReference;
  const [newest, ...earlier] = [5, 1, 2, 3].map(drawThumbnail);
  const results = Array.from({ length: 10 }, () => compare(newest!, before, [], [...earlier]));
  expect(new Set(results).size).toBe(1);
  expect(steps.prepare).toHaveBeenCalledTimes(4);
  expect(results[0]).toEqual(compareMotion(newest!.slice(), before, [], earlier));
  expect(compare(newest!, before, [], earlier.slice(1)).earlier).toHaveLength(2);
});
