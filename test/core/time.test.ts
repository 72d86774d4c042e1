import { describe, expect, test } from 'vitest';
import { nextGridTime, ageSeconds, isOver, secondsUntil } from '../../core/time.ts';
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
