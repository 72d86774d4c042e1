import { beforeEach, expect, test } from 'vitest';
import type { Resolution } from '../../../adapters/platforms/resolution.ts';
import {
  createResolutionCache,
  type ResolutionCache,
} from '../../../adapters/platforms/platform-capturer.ts';

const never = new AbortController().signal;
let nowMs: number;
let resolutions: PromiseWithResolvers<Resolution>[];
let asked: string[];
let cache: ResolutionCache;

const resolution = (playlistUrl: string, expiresAtMs: number | null = null): Resolution => ({
  playlistUrl,
  expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs),
  mediaExpiresAt: null,
  pageUrl: 'https://www.twitch.tv/a',
  details: {},
});

beforeEach(() => {
  nowMs = 0;
  asked = [];
  resolutions = [];
  cache = createResolutionCache({
    resolve: (url) => {
      asked.push(url);
      resolutions.push(Promise.withResolvers());
      return resolutions.at(-1)!.promise;
    },
    now: () => new Date(nowMs),
    max: 2,
  });
});

async function resolved(url: string, answer: Resolution, again = false): Promise<Resolution> {
  const resolving = cache.resolve({ url: url, caller: 'ada' }, again, never);
  resolutions.at(-1)?.resolve(answer);
  return resolving;
}

test('concurrent calls share one resolution', async () => {
  const many = [false, true, false].map((again) => cache.resolve({ url: 'a', caller: 'ada' }, again, never));
  resolutions[0]!.resolve(resolution('x'));
  expect(await Promise.all(many)).toEqual(Array(3).fill(resolution('x')));
  expect(asked).toEqual(['a']);
});

test.each([
  [3600, 3300],
  [1200, 900],
  [120, 60],
])('a resolution that expires in %d s is cached for %d s', async (lastsSeconds, keptSeconds) => {
  await resolved('a', resolution('x', lastsSeconds * 1000));
  nowMs = keptSeconds * 1000 - 1;
  await cache.resolve({ url: 'a', caller: 'ada' }, false, never);
  expect(asked).toHaveLength(1);
  nowMs += 1;
  await resolved('a', resolution('y'));
  expect(asked).toHaveLength(2);
});

test('a resolution is requested again if the cached one does not work', async () => {
  await resolved('a', resolution('x'));
  expect(await resolved('a', resolution('y'), true)).toEqual(resolution('y'));
  expect(await cache.resolve({ url: 'a', caller: 'ada' }, false, never)).toEqual(resolution('y'));
});

test('a failed resolution is not cached', async () => {
  await resolved('a', resolution('x'));
  const failing = cache.resolve({ url: 'a', caller: 'ada' }, true, never);
  resolutions.at(-1)!.reject(new Error('offline'));
  await expect(failing).rejects.toThrow('offline');
  expect(await resolved('a', resolution('y'))).toEqual(resolution('y'));
});

test('an aborted call does not abort the resolution for other calls', async () => {
  const controller = new AbortController();
  const one = cache.resolve({ url: 'a', caller: 'ada' }, false, controller.signal);
  const other = cache.resolve({ url: 'a', caller: 'ada' }, false, never);
  controller.abort(new Error('enough'));
  await expect(one).rejects.toThrow('enough');
  resolutions[0]!.resolve(resolution('x'));
  expect(await other).toEqual(resolution('x'));
  expect(asked).toHaveLength(1);
});

test('the resolution cache is bounded', async () => {
  for (const url of ['a', 'b', 'c']) await resolved(url, resolution(url));
  await resolved('a', resolution('again'));
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
