import { expect, test } from 'vitest';
import { setBounded } from '../../core/set-bounded.ts';
import { localDay } from '../../core/policies/watch/schedule.ts';

test('a bounded map loses its oldest entry, and a new value makes an entry the newest', () => {
  const map = new Map<string, number>();
  for (const [index, key] of ['a', 'b', 'c'].entries()) setBounded(map, key, index, 3);
  setBounded(map, 'a', 9, 3);
  setBounded(map, 'd', 4, 3);

  expect([...map]).toEqual([
    ['c', 2],
    ['a', 9],
    ['d', 4],
  ]);
});

test('the day of a time zone is right after more names than the cache holds', () => {
  const now = new Date('2026-03-01T23:30:00.000Z');
  const letters = 'europe/berlin'.replace(/\W/, '');
  for (let spelling = 0; spelling < 1100; spelling += 1) {
    const zone = Array.from(letters)
      .map((letter, at) => ((spelling >> at) & 1 ? letter.toUpperCase() : letter))
      .join('');
    expect(localDay(`${zone.slice(0, 6)}/${zone.slice(6)}`, now).date).toBe('2026-03-02');
  }
  expect(localDay('UTC', now).date).toBe('2026-03-01');
});
