import { beforeEach, describe, expect, it } from 'vitest';
import { createPlaylistMemory, type PlaylistMemory } from '../../../../adapters/media/hls/playlist-cache.ts';

let nowMs = 0;
let memory: PlaylistMemory;
const known = (mediaUrl: string) => ({ mediaUrl, olderSegments: 0 });

beforeEach(() => {
  nowMs = 0;
  memory = createPlaylistMemory({ now: () => new Date(nowMs), max: 2, keepMs: 1000 });
});

describe('createPlaylistMemory', () => {
  it('the playlist cache returns an entry until it is removed', () => {
    memory.remember('a', known('https://cdn.example/a'));
    expect(memory.recall('a')?.mediaUrl).toBe('https://cdn.example/a');
    memory.forget('a');
    expect(memory.recall('a')).toBeUndefined();
  });

  it('a cached playlist expires although its stream is captured continuously', () => {
    for (nowMs = 0; nowMs <= 1000; nowMs += 100) memory.remember('a', known('https://cdn.example/a'));
    nowMs = 1001;
    expect(memory.recall('a')).toBeUndefined();
  });

  it('a playlist that was cached before the clock was set back is not recalled', () => {
    nowMs = 3_600_000;
    memory.remember('a', known('https://cdn.example/a'));
    nowMs = 0;
    expect(memory.recall('a')).toBeUndefined();
  });

  it('the expiry of a cached playlist restarts when it is resolved to another URL', () => {
    memory.remember('a', known('https://cdn.example/a'));
    nowMs = 900;
    memory.remember('a', known('https://cdn.example/b'));
    nowMs = 1800;
    expect(memory.recall('a')?.mediaUrl).toBe('https://cdn.example/b');
  });

  it('a cached playlist expires at the time given by its source', () => {
    memory.remember('a', { ...known('https://cdn.example/a'), freshUntil: new Date(500) });
    nowMs = 499;
    expect(memory.recall('a')).toBeDefined();
    nowMs = 500;
    expect(memory.recall('a')).toBeUndefined();
  });

  it('the playlist cache evicts the least recently used entry', () => {
    memory.remember('a', known('a'));
    memory.remember('b', known('b'));
    memory.remember('a', known('a'));
    memory.remember('c', known('c'));
    expect(['a', 'b', 'c'].filter((key) => memory.recall(key) !== undefined)).toEqual(['a', 'c']);
  });
});
