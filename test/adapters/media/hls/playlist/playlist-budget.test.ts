import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEgressGuard } from '../../../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../../../adapters/egress/guarded-http.ts';
import { createHlsCapturer } from '../../../../../adapters/media/hls/capture-hls.ts';
import type { Steps } from '../../../../../adapters/steps.ts';
import {
  createPlaylistBudget,
  PlaylistBudgetError,
} from '../../../../../adapters/media/hls/playlist/playlist-budget.ts';

function* inSteps<Result>(work: () => Result, count = 1): Steps<Result> {
  for (let step = 1; step < count; step += 1) yield;
  return work();
}

const kilobytes = (count: number) => count * 1024;

describe('The bytes of playlists', () => {
  test('large playlists are read one after another, with a pause as long as each took; usual ones do not wait', async () => {
    const done: string[] = [];
    const paused = Promise.withResolvers<void>();
    let nowMs = 0;
    const budget = createPlaylistBudget({
      elapsedMs: () => nowMs,
      pause: (milliseconds) => {
        done.push(`pause ${milliseconds}`);
        return paused.promise;
      },
    });
    const read = (name: string, bytes: number) => {
      const share = budget.open('ada');
      share.count(bytes);
      const work = () => {
        nowMs += 80;
        done.push(name);
        return name;
      };
      return share.read(inSteps(work));
    };
    const [first, second] = [read('first', kilobytes(1000)), read('second', kilobytes(1000))];
    expect(await first).toBe('first');
    expect(await read('usual', kilobytes(10))).toBe('usual');
    expect(done).toEqual(['first', 'pause 80', 'usual']);
    paused.resolve();
    expect(await second).toBe('second');
  });

  test('all playlists together are limited, and small ones are not counted', () => {
    const budget = createPlaylistBudget({ maxBytes: kilobytes(1000) });
    const open = () => budget.open('ada');
    const [first, second, small] = [open(), open(), open()];
    for (let chunk = 0; chunk < 12; chunk += 1) first.count(kilobytes(100));
    second.count(kilobytes(256));
    second.count(kilobytes(56));
    expect(() => second.count(kilobytes(1))).toThrow(PlaylistBudgetError);
    small.count(kilobytes(312));
    expect(() => small.count(kilobytes(1))).toThrow(PlaylistBudgetError);

    first.close();
    first.close();

    const third = open();
    third.count(kilobytes(1256));
    expect(() => third.count(kilobytes(1))).toThrow(PlaylistBudgetError);
  });

  test('the caller with the most gives up its newest playlist, and its readers wait for those of others', async () => {
    const pauses: (() => void)[] = [];
    const pause = () => new Promise<void>((resolve) => void pauses.push(resolve));
    const budget = createPlaylistBudget({ maxBytes: kilobytes(3000), pause });
    const greedy = [1, 2, 3].map(() => budget.open('greedy'));
    for (const share of greedy) share.count(kilobytes(1256));
    const modest = budget.open('modest');
    modest.count(kilobytes(1256));
    expect(greedy.map(({ signal }) => signal.aborted)).toEqual([false, false, true]);
    expect(greedy[2]?.signal.reason).toBeInstanceOf(PlaylistBudgetError);
    expect(() => greedy[2]?.count(1)).toThrow(PlaylistBudgetError);

    const order: string[] = [];
    const read = (name: string, share = budget.open(name)) =>
      share.read(inSteps(() => void order.push(name), 2));
    const reads = [read('greedy', greedy[0]), read('greedy', greedy[1]), read('modest', modest)];
    while (order.length < 3) {
      await new Promise((resolve) => setImmediate(resolve));
      pauses.pop()?.();
    }
    await Promise.all(reads);
    expect(order).toEqual(['greedy', 'modest', 'greedy']);
  });
});

describe('A capturer', () => {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    const start = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n';
    if (request.url === '/long-url.m3u8') response.end(`${start}#EXTINF:2,\n${'a/'.repeat(17_000)}1.ts\n`);
    else if (request.url === '/small.m3u8') response.end(`${start}#EXTINF:2,\n1.ts\n`);
    else response.write(start.padEnd(kilobytes(500), '#\n'));
  });
  let http: ReturnType<typeof createGuardedHttp>;
  beforeEach(async () => {
    http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    await http.close();
    server.close();
  });

  test('large playlists that stall fail beyond the limit, while small ones are read', async () => {
    const budget = createPlaylistBudget({ maxBytes: kilobytes(300) });
    const refuse = () => Promise.reject(new Error('not needed'));
    const ffmpeg = { run: refuse, runAll: refuse };
    const { probe } = createHlsCapturer({ http, ffmpeg, now: () => new Date(), budget });
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const stop = new AbortController();
    const stalled = probe(`${origin}/large.m3u8`, stop.signal, 'ada').catch(() => 'stopped');

    const refused = await Promise.race([
      stalled,
      probe(`${origin}/large.m3u8?2`, stop.signal, 'ada').catch((error: unknown) => error),
    ]);

    expect(refused).toMatchObject({
      code: 'STREAM_FETCH_FAILED',
      remediation: expect.stringContaining('large playlists'),
    });
    expect(await probe(`${origin}/small.m3u8`, stop.signal, 'ada')).toMatchObject({ platform: 'hls' });
    stop.abort();
    expect(await stalled).toBe('stopped');
    expect(await probe(`${origin}/small.m3u8`, new AbortController().signal, 'ada')).toMatchObject({
      platform: 'hls',
    });
  });

  test('a playlist with too long a URL is refused with what to do', async () => {
    const refuse = () => Promise.reject(new Error('not needed'));
    const { probe } = createHlsCapturer({
      http,
      ffmpeg: { run: refuse, runAll: refuse },
      now: () => new Date(),
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/long-url.m3u8`;
    await expect(probe(url, new AbortController().signal, 'ada')).rejects.toMatchObject({
      code: 'STREAM_FETCH_FAILED',
      remediation: expect.stringMatching(/too long lines. Use one with shorter URLs/),
    });
  });
});
