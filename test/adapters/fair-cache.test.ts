import { expect, test } from 'vitest';
import { createFairCache } from '../../adapters/fair-cache.ts';

test('a caller with many entries removes its own, and none of another caller', () => {
  const cache = createFairCache<string, number>({ max: 4 });
  cache.set('modest', 'a', 1);
  for (let index = 0; index < 20; index += 1) cache.set('greedy', `${index}`, index);
  expect(cache.get('modest', 'a')).toBe(1);
  expect([...Array(20).keys()].filter((index) => cache.get('greedy', `${index}`) !== undefined)).toEqual([
    17, 18, 19,
  ]);
});

test('a caller finds no entry of another caller', () => {
  const cache = createFairCache<string, number>({ max: 4 });
  cache.set('ada', 'a', 1);
  expect(cache.get('bob', 'a')).toBeUndefined();
  expect(cache.delete('bob', 'a')).toBeUndefined();
  expect(cache.delete('ada', 'a')).toBe(1);
  expect(cache.size()).toBe(0);
});

test('the least recently used entry of the largest holder is removed first, by size', () => {
  const evicted: string[] = [];
  const cache = createFairCache<string, string>({
    max: 10,
    sizeOf: (text) => text.length,
    onEvict: (text) => evicted.push(text),
  });
  for (const text of ['aaa', 'bbb']) cache.set('ada', text, text);
  cache.set('bob', 'cccc', 'cccc');
  cache.get('ada', 'aaa');
  cache.set('bob', 'd', 'd');
  expect(evicted).toEqual(['bbb']);
  cache.set('bob', 'too large', 'x'.repeat(11));
  expect(evicted).toEqual(['bbb', 'x'.repeat(11)]);
  expect([...cache.values()].toSorted()).toEqual(['aaa', 'cccc', 'd']);
  expect(cache.size()).toBe(8);
});

test('an entry that is set again replaces the one before, whose size does not count any more', () => {
  const cache = createFairCache<string, string>({ max: 10, sizeOf: (text) => text.length });
  for (const text of ['a'.repeat(9), 'bb']) cache.set('ada', 'key', text);
  expect(cache.size()).toBe(2);
});
