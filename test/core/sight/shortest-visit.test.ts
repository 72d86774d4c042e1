import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseMoments } from '../../../core/sight/choose-moments.ts';
import {
  confirmApartSeconds,
  sureVisitSeconds,
  shortestVisitSeconds,
} from '../../../core/sight/sure-visit.ts';

const rules = { lookBack: true, intervalSeconds: 10, confirmSeconds: 2, checksToOpen: 2 };
const scan = (distance: number, leftOut = 0) => ({ distance_seconds: distance, left_out_seconds: leftOut });

test.each([
  [1, 1, 6],
  [1, 2, 7],
  [2, 1, 6],
  [2, 2, 7],
  [2, 4, 9],
  [2, 0.5, 5.5],
])(
  'a condition of %i verdicts and key frames %f s apart have one of %f s',
  (checksToOpen, distance, seconds) => {
    expect(shortestVisitSeconds({ ...rules, checksToOpen }, scan(distance))).toBe(seconds);
  },
);

test.each([
  ['captures do not look back', { lookBack: false }, scan(2), 14],
  ['nothing was scanned yet', {}, undefined, 12],
  ['the scan left a part out', {}, scan(2, 0.5), 14],
  ['the distance of key frames is not known', {}, scan(0), 12],
  ['key frames are farther apart than checks', {}, scan(10), 20],
])('it is that of interval and confirmation if %s', (_, given, facts, seconds) => {
  expect(shortestVisitSeconds({ ...rules, ...given }, facts)).toBe(seconds);
});

test('the newest frame of two captures can be an interval and a segment apart', () => {
  const slow = { ...rules, intervalSeconds: 30, segmentSeconds: 6 };
  expect(shortestVisitSeconds(slow, scan(2))).toBe(19);
  expect(shortestVisitSeconds({ ...slow, lookBack: false, checksToOpen: 1 }, undefined)).toBe(36);
});

test('it is that of interval and confirmation for an interval that no scan covers', () => {
  expect(shortestVisitSeconds({ ...rules, intervalSeconds: 300 }, scan(2))).toBe(304);
  expect(shortestVisitSeconds({ ...rules, intervalSeconds: 70 }, scan(2))).toBe(37);
});

test('conditions that need more verdicts than a scan confirms depend on further checks', () => {
  expect(shortestVisitSeconds({ ...rules, checksToOpen: 3 }, scan(1))).toBe(15);
});

test('a visit of that duration has two moments that confirm each other, whatever moves before and after it', () => {
  const numbers = fc.integer({ min: 250, max: 4000 });
  fc.assert(
    fc.property(
      numbers,
      fc.nat({ max: 100 }),
      fc.integer({ min: 5, max: 70 }),
      fc.gen(),
      (distanceMs, begins, interval, gen) => {
        const count = Math.floor((interval * 1000) / distanceMs);
        const covered = (count * distanceMs) / 1000;
        // Neither its begin nor its end is the time of a frame.
        const seconds = sureVisitSeconds(distanceMs / 1000, covered) + 0.002;
        fc.pre(count > 1 && seconds < covered - distanceMs / 1000);
        const times = Array.from({ length: count }, (_, index) => (index + 1) * distanceMs);
        const newest = times.at(-1)!;
        const begin = (begins / 100) * (newest - seconds * 1000);
        const isVisit = (ms: number) => ms >= begin && ms < begin + seconds * 1000;
        const frames = times.slice(0, -1).map((ms) => {
          const moved = isVisit(ms) || gen(fc.boolean);
          const changedShare = moved ? gen(fc.double, { min: 0.01, max: 1, noNaN: true }) : 0;
          return { at: new Date(ms), moved, isNews: moved, likeNewest: !moved, black: false, changedShare };
        });
        const chosen = chooseMoments(frames, {
          at: new Date(newest),
          moved: false,
          black: false,
          confirms: false,
        });
        expect(chosen.length).toBeLessThanOrEqual(3);
        const visits = chosen.map((index) => times[index]!).filter(isVisit);
        expect(Math.max(...visits) - Math.min(...visits)).toBeGreaterThanOrEqual(confirmApartSeconds * 1000);
      },
    ),
    { numRuns: 3000 },
  );
});
