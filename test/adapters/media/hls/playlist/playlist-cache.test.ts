import { beforeEach, describe, expect, test } from 'vitest';
import {
  createPlaylistCache,
  type PlaylistCache,
} from '../../../../../adapters/media/hls/playlist/playlist-cache.ts';

let nowMs = 0;
let cache: PlaylistCache;
const known = (mediaUrl: string) => ({ mediaUrl, olderSegments: 0 });

beforeEach(() => {
  nowMs = 0;
  cache = createPlaylistCache({ now: () => new Date(nowMs), max: 2, keepMs: 1000 });
});

describe('createPlaylistCache', () => {
  test('the playlist cache returns an entry until it is removed', () => {
    cache.set('a', known('https://cdn.example/a'));
    expect(cache.get('a')?.mediaUrl).toBe('https://cdn.example/a');
    cache.delete('a');
    expect(cache.get('a')).toBeUndefined();
  });

  test('a cached playlist expires although its stream is captured continuously', () => {
    for (nowMs = 0; nowMs <= 1000; nowMs += 100) cache.set('a', known('https://cdn.example/a'));
    nowMs = 1001;
    expect(cache.get('a')).toBeUndefined();
  });

  test('a playlist that was cached before the clock was set back is not recalled', () => {
    nowMs = 3_600_000;
    cache.set('a', known('https://cdn.example/a'));
    nowMs = 0;
    expect(cache.get('a')).toBeUndefined();
  });

  test('the expiry of a cached playlist restarts when it is resolved to another URL', () => {
    cache.set('a', known('https://cdn.example/a'));
    nowMs = 900;
    cache.set('a', known('https://cdn.example/b'));
    nowMs = 1800;
    expect(cache.get('a')?.mediaUrl).toBe('https://cdn.example/b');
  });

  test('a cached playlist expires at the time given by its source', () => {
    cache.set('a', { ...known('https://cdn.example/a'), freshUntil: new Date(500) });
    nowMs = 499;
    expect(cache.get('a')).toBeDefined();
    nowMs = 500;
    expect(cache.get('a')).toBeUndefined();
  });

  test('the playlist cache evicts the least recently used entry', () => {
    cache.set('a', known('a'));
    cache.set('b', known('b'));
    cache.set('a', known('a'));
    cache.set('c', known('c'));
    expect(['a', 'b', 'c'].filter((key) => cache.get(key) !== undefined)).toEqual(['a', 'c']);
  });
});
