import { beforeEach, expect, test } from 'vitest';
import {
  createPlaylistCache,
  type PlaylistCache,
} from '../../../../../adapters/media/hls/playlist/find-playlist.ts';

let nowMs = 0;
let cache: PlaylistCache;
const known = (mediaUrl: string) => ({ mediaUrl, olderSegments: 0 });

beforeEach(() => {
  nowMs = 0;
  cache = createPlaylistCache({ now: () => new Date(nowMs), max: 2, keepMs: 1000 });
});

test('the playlist cache returns an entry until it is removed', () => {
  cache.set('ada', 'a', known('https://cdn.example/a'));
  expect(cache.get('ada', 'a')?.mediaUrl).toBe('https://cdn.example/a');
  cache.delete('ada', 'a');
  expect(cache.get('ada', 'a')).toBeUndefined();
});

test('a cached playlist expires although its stream is captured continuously', () => {
  for (nowMs = 0; nowMs <= 1000; nowMs += 100) cache.set('ada', 'a', known('https://cdn.example/a'));
  nowMs = 1001;
  expect(cache.get('ada', 'a')).toBeUndefined();
});

test('a playlist that was cached before the clock was set back is not recalled', () => {
  nowMs = 3_600_000;
  cache.set('ada', 'a', known('https://cdn.example/a'));
  nowMs = 0;
  expect(cache.get('ada', 'a')).toBeUndefined();
});

test('the expiry of a cached playlist restarts when it is resolved to another URL', () => {
  cache.set('ada', 'a', known('https://cdn.example/a'));
  nowMs = 900;
  cache.set('ada', 'a', known('https://cdn.example/b'));
  nowMs = 1800;
  expect(cache.get('ada', 'a')?.mediaUrl).toBe('https://cdn.example/b');
});

test('a cached playlist expires at the time given by its source', () => {
  cache.set('ada', 'a', { ...known('https://cdn.example/a'), freshUntil: new Date(500) });
  nowMs = 499;
  expect(cache.get('ada', 'a')).toBeDefined();
  nowMs = 500;
  expect(cache.get('ada', 'a')).toBeUndefined();
});

test('the playlist cache evicts the least recently used entry', () => {
  cache.set('ada', 'a', known('a'));
  cache.set('ada', 'b', known('b'));
  cache.set('ada', 'a', known('a'));
  cache.set('ada', 'c', known('c'));
  expect(['a', 'b', 'c'].filter((key) => cache.get('ada', key) !== undefined)).toEqual(['a', 'c']);
});
