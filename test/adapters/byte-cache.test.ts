import { expect, test } from 'vitest';
import { createByteCache, readCacheUse, ownBytes, retainedBytes } from '../../adapters/byte-cache.ts';

const megabyte = 1024 * 1024;
const useOf = (name: string) => readCacheUse().find(({ cache }) => cache === name);

test('a part of a buffer counts as the whole buffer that it keeps in memory, and its copy does not', () => {
  const part = new Uint8Array(8 * megabyte).subarray(0, 100);
  expect(retainedBytes({ part })).toBeGreaterThan(8 * megabyte);
  expect(retainedBytes({ part: ownBytes(part) })).toBeLessThan(1000);
  const whole = new Uint8Array(100);
  expect(ownBytes(whole)).toBe(whole);
});

test('texts, lists and maps count with all that is in them', () => {
  expect(retainedBytes(new Map([['a'.repeat(1000), ['b'.repeat(1000)]]]))).toBeGreaterThan(4000);
});

test('a cache drops its oldest entries beyond its bytes, and keeps no value that exceeds them alone', () => {
  const cache = createByteCache<Uint8Array>({ name: 'oldest', max: 1000, maxBytes: megabyte });
  for (let index = 0; index < 20; index += 1) cache.set(`${index}`, new Uint8Array(100_000));
  expect(cache.has('0')).toBe(false);
  expect(cache.has('19')).toBe(true);
  cache.set('large', new Uint8Array(megabyte));
  expect(cache.has('large')).toBe(false);
  expect(useOf('oldest')?.bytes).toBeLessThanOrEqual(megabyte);
});

test('long keys count too', () => {
  const cache = createByteCache<true>({ name: 'keys', max: 1000, maxBytes: megabyte });
  for (let index = 0; index < 100; index += 1) cache.set(`${index}`.padEnd(100_000), true);
  expect(useOf('keys')).toMatchObject({ maxBytes: megabyte });
  expect(useOf('keys')?.bytes).toBeGreaterThan(800_000);
  expect(cache.has('0'.padEnd(100_000))).toBe(false);
});

test('caches of one name are one metric', () => {
  const both = [1, 2].map(() => createByteCache<string>({ name: 'same', max: 10, maxBytes: megabyte }));
  for (const cache of both) cache.set('a', 'b');
  expect(useOf('same')).toMatchObject({ maxBytes: 2 * megabyte });
});
