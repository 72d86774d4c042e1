import { describe, expect, test } from 'vitest';
import { nextGridTime, nextOnGrid, ageSeconds, isOver, secondsUntil, toWakeUp } from '../../core/time.ts';
import { after, start } from '../contract/records.ts';

describe('a stored time', () => {
  test('a stored time has an age in seconds', () => {
    expect(ageSeconds(start, after(90))).toBe(90);
    expect(ageSeconds(start.toISOString(), after(0.25))).toBe(0.25);
  });

  test('a stored time in the future has the age 0', () => {
    expect(ageSeconds(after(3600), start)).toBe(0);
  });

  test('a stored time in the future is waited for, up to the maximum wait', () => {
    expect(secondsUntil(after(20), start, 30)).toBe(20);
    expect(secondsUntil(after(30), start, 30)).toBe(30);
    expect(secondsUntil(after(-5), start, 30)).toBe(0);
  });

  test('a stored time beyond the maximum wait is due', () => {
    expect(secondsUntil(after(3600), start, 30)).toBe(0);
  });

  test('a period from a stored time is over after its seconds, and if that time lies in the future', () => {
    expect(isOver(start, 30, after(29))).toBe(false);
    expect(isOver(start, 30, after(30))).toBe(true);
    expect(isOver(after(3600), 30, start)).toBe(true);
  });
});

describe('the grid of a job', () => {
  test.each([-3600, -5, 0, 5, 3595])(
    'the grid of a job has a point within an interval of a clock that reads %d s',
    (seconds) => {
      const next = nextGridTime(start, 10, after(seconds));
      expect(next.getTime()).toBeGreaterThan(after(seconds).getTime());
      expect(next.getTime()).toBeLessThanOrEqual(after(seconds + 10).getTime());
      expect((next.getTime() - start.getTime()) % 10_000).toBeCloseTo(0);
    },
  );
});

describe('the grid of a stream', () => {
  const phaseMs = 7_301;
  const onGrid = (startedAt: Date, now: Date) =>
    nextOnGrid({ startedAt, phaseMs, intervalSeconds: 10, plannedAt: null, stretch: 1 }, now);

  test.each(Array.from({ length: 20 }, (_, index) => index * 0.777))(
    'the first point comes half an interval to an interval and a half after a start at %d s',
    (seconds) => {
      const startedAt = after(seconds);
      const first = onGrid(startedAt, after(seconds + 0.3));
      expect(first.getTime() % 10_000).toBe(phaseMs);
      expect(first.getTime() - startedAt.getTime()).toBeGreaterThan(5000);
      expect(first.getTime() - startedAt.getTime()).toBeLessThanOrEqual(15_000);
      expect(onGrid(startedAt, first).getTime()).toBe(first.getTime() + 10_000);
    },
  );

  test('jobs of one stream share their points, whenever they began', () => {
    const now = after(100);
    expect(onGrid(after(3), now)).toEqual(onGrid(after(88.8), now));
  });

  test('a start in the future delays no point, because the clock was set back', () => {
    expect(onGrid(after(3600), start).getTime() - start.getTime()).toBeLessThanOrEqual(10_000);
  });

  test('a wake-up on the grid is exact, any other one is rounded up to a whole second', () => {
    expect(toWakeUp(after(8.301), phaseMs)).toEqual(after(8.301));
    expect(toWakeUp(after(8.3), phaseMs)).toEqual(after(9));
    expect(toWakeUp(after(8.3), null)).toEqual(after(9));
  });
});
