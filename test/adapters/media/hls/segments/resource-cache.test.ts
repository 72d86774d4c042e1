import { expect, test } from 'vitest';
import { createResourceCache } from '../../../../../adapters/media/hls/segments/fetch-segments.ts';

function cache(max = 2) {
  const clock = { now: new Date(0) };
  const find = createResourceCache({ now: () => clock.now, max, keepMs: 1000 });
  const resources = find('ada', 'stream');
  let fetched = 0;
  const fetch = (bytes: number) => (): Promise<Uint8Array> => {
    fetched += 1;
    return Promise.resolve(new Uint8Array(bytes));
  };
  const get = (url: string, offset: number | null = null, bytes = 16): Promise<Uint8Array> =>
    resources.get({ url, byteRange: offset === null ? null : { offset, length: 16 } }, fetch(bytes));
  return { find, resources, clock, get, fetched: () => fetched };
}

test('a fetched resource is cached until it expires, by URL and range', async () => {
  const { get, clock, fetched } = cache();
  await get('a');
  await get('a');
  expect(fetched()).toBe(1);
  await get('a', 0);
  expect(fetched()).toBe(2);
  clock.now = new Date(1000);
  await get('a');
  expect(fetched()).toBe(3);
});

test('the part of a larger body is cached without the rest', async () => {
  const { resources } = cache();
  const body = new Uint8Array(8 * 1024 * 1024);
  const resource = { url: 'a', byteRange: { offset: 0, length: 100 } };
  const bytes = await resources.get(resource, async () => body.subarray(0, 100));
  expect(bytes.buffer.byteLength).toBe(100);
  const fetchAgain = async () => new Uint8Array(0);
  expect(await resources.get(resource, fetchAgain)).toBe(bytes);
});

test('the resource cache evicts the oldest entry and stores no large ones', async () => {
  const { get, fetched } = cache();
  for (const url of ['a', 'b', 'c', 'a']) await get(url);
  expect(fetched()).toBe(4);
  await get('large', null, 100_000);
  await get('large', null, 100_000);
  expect(fetched()).toBe(6);
});

test('the resource cache evicts the least recently used entry', async () => {
  const { get, fetched } = cache();
  for (const url of ['a', 'b', 'a', 'c', 'a']) await get(url);
  expect(fetched()).toBe(3);
});

test('the resource cache stores neither failures nor removed entries', async () => {
  const { resources, get, fetched } = cache();
  const failing = (): Promise<Uint8Array> => Promise.reject(new Error('no'));
  await expect(resources.get({ url: 'a', byteRange: null }, failing)).rejects.toThrow('no');
  await get('a');
  resources.delete({ url: 'a', byteRange: null });
  await get('a');
  expect(fetched()).toBe(2);
});

test('a resource that was cached before the clock was set back is fetched again', async () => {
  const { get, clock, fetched } = cache();
  clock.now = new Date(3_600_000);
  await get('a');
  clock.now = new Date(0);
  await get('a');
  expect(fetched()).toBe(2);
});

test('a key that was fetched for one caller or stream is fetched again for another', async () => {
  const { find, get, fetched } = cache();
  await get('key');
  const key = { url: 'key', byteRange: null };
  const fetch = async () => new Uint8Array([7]);
  for (const [caller, stream] of [
    ['bob', 'stream'],
    ['ada', 'other'],
  ] as const)
    expect(await find(caller, stream).get(key, fetch)).toEqual(new Uint8Array([7]));
  expect(fetched()).toBe(1);
});
