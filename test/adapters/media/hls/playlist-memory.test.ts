import { beforeEach, describe, expect, it } from 'vitest';
import { createPlaylistMemory, type PlaylistMemory } from '../../../../adapters/media/hls/playlist-memory.ts';

let nowMs = 0;
let memory: PlaylistMemory;
const known = (mediaUrl: string) => ({ mediaUrl, olderSegments: 0 });

beforeEach(() => {
  nowMs = 0;
  memory = createPlaylistMemory({ now: () => new Date(nowMs), most: 2, keepMs: 1000 });
});

describe('the memory of playlists', () => {
  it('recalls what was remembered until it is forgotten', () => {
    memory.remember('a', known('https://cdn.example/a'));
    expect(memory.recall('a')?.mediaUrl).toBe('https://cdn.example/a');
    memory.forget('a');
    expect(memory.recall('a')).toBeUndefined();
  });

  it('forgets in time although a stream is captured all the while', () => {
    for (nowMs = 0; nowMs <= 1000; nowMs += 100) memory.remember('a', known('https://cdn.example/a'));
    nowMs = 1001;
    expect(memory.recall('a')).toBeUndefined();
  });

  it('forgets what was resolved in the future: the clock was set back', () => {
    nowMs = 3_600_000;
    memory.remember('a', known('https://cdn.example/a'));
    nowMs = 0;
    expect(memory.recall('a')).toBeUndefined();
  });

  it('counts anew from a playlist that was resolved to another URL', () => {
    memory.remember('a', known('https://cdn.example/a'));
    nowMs = 900;
    memory.remember('a', known('https://cdn.example/b'));
    nowMs = 1800;
    expect(memory.recall('a')?.mediaUrl).toBe('https://cdn.example/b');
  });

  it('forgets when the playlist ceases to work by what its source says', () => {
    memory.remember('a', { ...known('https://cdn.example/a'), freshUntil: new Date(500) });
    nowMs = 499;
    expect(memory.recall('a')).toBeDefined();
    nowMs = 500;
    expect(memory.recall('a')).toBeUndefined();
  });

  it('lets go of the one that was not used for longest', () => {
    memory.remember('a', known('a'));
    memory.remember('b', known('b'));
    memory.remember('a', known('a'));
    memory.remember('c', known('c'));
    expect(['a', 'b', 'c'].filter((key) => memory.recall(key) !== undefined)).toEqual(['a', 'c']);
  });
});
