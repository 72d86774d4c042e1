import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseMoments, confirmApartSeconds } from '../../../core/sight/choose-moments.ts';
import { shortestVisitSeconds } from '../../../core/sight/shortest-visit.ts';

const rules = { lookBack: true, intervalSeconds: 10, confirmSeconds: 2, checksToOpen: 2 };
const scan = (distance: number, leftOut = 0) => ({ distance_seconds: distance, left_out_seconds: leftOut });

describe('the shortest visit that is sure to be seen', () => {
  test.each([
    [1, 1, 1],
    [1, 2, 2],
    [2, 1, 3],
    [2, 2, 4],
    [2, 4, 8],
    [2, 0.5, 2.9],
  ])(
    'a condition of %i verdicts and key frames %f s apart have one of %f s',
    (checksToOpen, distance, seconds) => {
      expect(shortestVisitSeconds({ ...rules, checksToOpen }, scan(distance))).toBe(seconds);
    },
  );

  test.each([
    ['captures do not look back', { lookBack: false }, scan(2)],
    ['nothing was scanned yet', {}, undefined],
    ['the scan left a part out', {}, scan(2, 0.5)],
    ['the distance of key frames is not known', {}, scan(0)],
    ['key frames are farther apart than checks', {}, scan(10)],
  ])('it is that of interval and confirmation if %s', (_, given, facts) => {
    expect(shortestVisitSeconds({ ...rules, ...given }, facts)).toBe(12);
  });

  test('conditions that need more verdicts than a scan confirms depend on further checks', () => {
    expect(shortestVisitSeconds({ ...rules, checksToOpen: 3 }, scan(1))).toBe(14);
  });

  test('a visit of that duration has two moments that confirm each other, whenever the newest frame is taken', () => {
    const numbers = fc.integer({ min: 250, max: 4000 });
    fc.assert(
      fc.property(numbers, fc.integer({ min: 0, max: 9999 }), fc.gen(), (distanceMs, phase, gen) => {
        const seconds = shortestVisitSeconds({ ...rules, intervalSeconds: 60 }, scan(distanceMs / 1000));
        const count = Math.ceil(20_000 / distanceMs);
        const times = Array.from({ length: count }, (_, index) => index * distanceMs);
        const newest = times.at(-1)!;
        const begin = phase;
        const isVisit = (ms: number) => ms >= begin && ms < begin + seconds * 1000;
        fc.pre(begin + seconds * 1000 < newest);
        const frames = times.slice(0, -1).map((ms) => ({
          at: new Date(ms),
          moved: isVisit(ms),
          isNews: isVisit(ms),
          likeNewest: !isVisit(ms),
          black: false,
          changedShare: isVisit(ms) ? gen(fc.double, { min: 0.01, max: 1, noNaN: true }) : 0,
        }));
        const chosen = chooseMoments(frames, {
          at: new Date(newest),
          moved: false,
          black: false,
          confirms: false,
        });
        const visits = chosen.map((index) => times[index]!).filter(isVisit);
        expect(Math.max(...visits) - Math.min(...visits)).toBeGreaterThanOrEqual(confirmApartSeconds * 1000);
      }),
    );
  });
});
