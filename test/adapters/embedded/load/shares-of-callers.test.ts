import { EventEmitter } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCallLimiter } from '../../../../adapters/embedded/callers/call-limiter.ts';
import { trimMedia } from '../../../../adapters/embedded/files/media-quota.ts';
import { createCurrentCaller } from '../../../../adapters/embedded/load/current-caller.ts';
import { createDecodeTurns, createSpareTime } from '../../../../adapters/embedded/load/limit-decodes.ts';
import { createLookups, type NameProcess } from '../../../../adapters/embedded/names/lookups.ts';
import { startDeliveryConsumer } from '../../../../adapters/embedded/queue/delivery-queue.ts';
import { createFairTurns } from '../../../../adapters/embedded/load/fair-turns.ts';
import { createEventSessions } from '../../../../adapters/embedded/web/event-sessions.ts';
import { createFairCache } from '../../../../adapters/fair-cache.ts';
import { createRequestBodies } from '../../../../adapters/http/request-bodies.ts';
import { createMembers } from '../../../../adapters/media/ffmpeg/decoder-pool.ts';
import { createPlaylistBudget } from '../../../../adapters/media/hls/playlist/playlist-budget.ts';
import { createKeyFrameMemory } from '../../../../adapters/media/rtsp/session/key-frame-store.ts';
import { createOpenSessions } from '../../../../adapters/media/rtsp/session/open-sessions.ts';
import { createSessionMemory } from '../../../../adapters/media/rtsp/session/session-memory.ts';
import {
  createThreadDetector,
  type NetworkThread,
} from '../../../../adapters/vision/objects/thread-detector.ts';
import { createTurns } from '../../../../cli/service/capture-scheduler.ts';
import { createPace } from '../../../../core/tick/pace.ts';
import type { StreamTurns } from '../../../../core/ports/stream-capturer.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

/** A greedy caller takes all that it can get of a resource. Resolves if a modest one then gets its share. */
type Case = () => Promise<void>;

const settled = () => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;
const noTimer = () => () => undefined;
const noop = () => undefined;
const many = Array.from({ length: 300 }, (_, index) => index);

async function servesModest(turns: StreamTurns): Promise<void> {
  for (const _ of many) void turns.take('greedy');
  await settled();
  const taken = turns.take('modest');
  expect(await Promise.race([taken, settled().then(() => 'waits')])).not.toBe('waits');
}

const cases: Record<string, Case> = {
  'captures of checks': () => servesModest(createTurns({ capturesAtOnce: 16 }).ticks),
  'probes and captures of calls': () => servesModest(createTurns({ capturesAtOnce: 16 }).calls),
  'runs of ffmpeg': async () => {
    let caller = 'greedy';
    const deps = { currentCaller: () => caller, elapsedMs: () => 0, setTimer: noTimer };
    for (const inTurn of [
      createDecodeTurns({ ...deps, max: 3, report: () => undefined }),
      createSpareTime({ ...deps, cores: 2, lateSeconds: () => 0 }).inTurn,
    ]) {
      caller = 'greedy';
      for (const _ of many) void inTurn(() => new Promise(() => undefined), never);
      caller = 'modest';
      expect(await inTurn(async () => 'decoded', never)).toBe('decoded');
    }
  },
  'intervals in an overload': async () => {
    let nowMs = 0;
    const log = { debug: noop, info: noop, warning: noop, error: noop };
    const pace = createPace({ steadyNow: () => new Date(nowMs), log });
    const check = (caller: string, index: number) =>
      pace.stretch({ run_id: `${caller}-${index}`, caller }, 5);
    for (let round = 0; round < 20; round += 1) {
      nowMs += 5_000;
      check('modest', 0);
      for (const index of many) {
        check('greedy', index);
        pace.record('decoder', 15_000);
      }
    }
    expect(check('greedy', 0)).toBeGreaterThan(1);
    expect(check('modest', 0)).toBe(1);
    expect(pace.retryAfterSeconds('modest')).toBeUndefined();
  },
  'processes of ffmpeg that stay': async () => {
    const closed: string[] = [];
    const members = createMembers({
      start: (size) => ({
        pid: 1,
        isBusy: () => false,
        decode: async () => [],
        close: () => void closed.push(`${size?.width}`),
      }),
      maxProcesses: 8,
      elapsedMs: () => 0,
    });
    for (const index of many) members.find('greedy', { width: index, height: 8 });
    expect(members.find('modest', { width: 640, height: 8 })).toBeDefined();
    expect(closed).toEqual(['0']);
  },
  'pictures that a built-in model decodes': async () => {
    const { asCaller, currentCaller } = createCurrentCaller();
    const inTurn = createDecodeTurns({
      currentCaller,
      max: 1,
      reserved: 0,
      elapsedMs: () => performance.now(),
      setTimer: noTimer,
      report: noop,
    });
    const decoded: string[] = [];
    const decode = (caller: string) =>
      asCaller(caller, () => inTurn(async () => void decoded.push(caller), never));
    await Promise.all([...many.map(() => decode('greedy')), decode('modest')]);
    expect(decoded.indexOf('modest')).toBeLessThan(3);
  },
  'large playlists': async () => {
    const budget = createPlaylistBudget();
    const large = 8 * 1024 * 1024;
    for (const _ of many) {
      try {
        budget.open('greedy').count(large);
      } catch {
        // The newest one of the caller with the most gives up.
      }
    }
    budget.open('modest').count(large);
  },
  'calls of a built-in or local model': async () => {
    const judged: string[] = [];
    let caller = 'greedy';
    const thread = new EventEmitter();
    const startThread = () =>
      Object.assign(thread, {
        postMessage: ({ id }: { id: number }) => {
          judged.push(`${id}`);
          setImmediate(() => thread.emit('message', { id, detections: [] }));
        },
        ref: () => undefined,
        unref: () => undefined,
        terminate: async () => 0,
      }) as unknown as NetworkThread;
    const detector = createThreadDetector(
      { graph: '', weights: '' },
      { startThread, currentCaller: () => caller, maxThreads: 1, setTimer: noTimer },
    );
    const picture = { width: 8, height: 8, rgb: new Uint8Array(192) } as never;
    for (const _ of many) detector.detect(picture, never).catch(() => undefined);
    caller = 'modest';
    await detector.detect(picture, never);
    expect(judged.length).toBeLessThan(5);
  },
  'lookups of names': async () => {
    let caller = 'greedy';
    const child = new EventEmitter();
    const send = ({ id, host }: { id: number; host: string }) => {
      if (host === 'camera.example') queueMicrotask(() => child.emit('message', { id, addresses: [] }));
      return true;
    };
    const start = () => Object.assign(child, { kill: () => true, send }) as unknown as NameProcess;
    const lookups = createLookups({ currentCaller: () => caller, start, setTimer: noTimer });
    for (const index of many) lookups.lookup(`silent-${index}.example`).catch(() => undefined);
    caller = 'modest';
    expect(await lookups.lookup('camera.example')).toEqual([]);
  },
  'answers of servers that are kept': async () => {
    const cache = createFairCache<number, string>({ max: 100 });
    cache.set('modest', 0, 'playlist');
    for (const index of many) cache.set('greedy', index, 'playlist');
    expect(cache.get('modest', 0)).toBe('playlist');
  },
  'key frames of RTSP sessions': async () => {
    const memory = createKeyFrameMemory(100_000);
    const dropped: string[] = [];
    const add = (caller: string, number: number) =>
      memory.add({
        caller,
        number,
        unit: { bytes: Buffer.alloc(5_000) } as never,
        rest: [],
        drop: () => dropped.push(caller),
      });
    for (const number of [1, 2, 3]) add('modest', number);
    for (const number of many) add('greedy', number);
    expect(new Set(dropped)).toEqual(new Set(['greedy']));
  },
  'newest pictures of RTSP sessions': async () => {
    const memory = createSessionMemory(100_000);
    const cleared: string[] = [];
    const join = (caller: string, bytes: number) => {
      let held = bytes;
      memory.join(
        caller,
        () => held,
        () => {
          held = 0;
          cleared.push(caller);
        },
      )();
    };
    join('modest', 20_000);
    for (const _ of many) join('greedy', 10_000);
    join('modest', 10_000);
    expect(new Set(cleared)).toEqual(new Set(['greedy']));
  },
  'open RTSP sessions': async () => {
    const closed: string[] = [];
    const sessions = createOpenSessions(
      async ({ caller }) =>
        ({ session: { close: async () => void closed.push(caller) }, track: {} }) as never,
      10,
      noTimer,
    );
    for (const caller of ['modest', ...many.map(() => 'greedy'), 'modest']) {
      const entry = sessions.begin({ caller, url: `rtsp://camera/${Math.random()}` }, Promise.resolve());
      sessions.enter(entry);
      await entry.opening;
      sessions.leave(entry, 35_000);
    }
    await settled();
    expect(new Set(closed)).toEqual(new Set(['greedy']));
  },
  'stored media': async () => {
    const folder = folderOfTest();
    const now = new Date();
    const old = new Date(now.getTime() - 86_400_000);
    for (const [caller, count] of [
      ['modest', 3],
      ['greedy', 30],
    ] as const) {
      await mkdir(join(folder, 'evidence', '7', caller), { recursive: true });
      for (let index = 0; index < count; index += 1) {
        const path = join(folder, 'evidence', '7', caller, `${index}.jpg`);
        await writeFile(path, Buffer.alloc(1_000));
        await utimes(path, old, new Date(old.getTime() + index + (caller === 'modest' ? 0 : 1_000)));
      }
    }
    await trimMedia(folder, { maxBytes: 10_000, needed: new Set(), now });
    expect(await readdir(join(folder, 'evidence', '7', 'modest'))).toHaveLength(3);
    expect(await readdir(join(folder, 'evidence', '7', 'greedy'))).toHaveLength(7);
  },
  deliveries: async () => {
    const handled: string[] = [];
    const groups = [...many.map((index) => `greedy-${index}`), 'modest-0'];
    const consumer = startDeliveryConsumer({
      messages: {
        groups: () => groups,
        head: (group: string) =>
          handled.includes(group.split('-')[0] ?? '') && group.startsWith('modest')
            ? undefined
            : { position: 1, visibleAt: 0, failures: 0, message: { group } },
        postpone: () => undefined,
        remove: () => undefined,
      } as never,
      handler: async (_, caller) => {
        handled.push(caller);
        return caller === 'greedy' ? new Promise(() => undefined) : { kind: 'again', afterSeconds: 60 };
      },
      now: () => new Date(0),
      setTimer: noTimer,
      log: () => ({ error: () => undefined }) as never,
      turns: createFairTurns({ max: 8, reserved: 1, elapsedMs: () => 0, setTimer: noTimer }),
      findCaller: (runId) => runId.split('-')[0] ?? '',
      visibilityMs: 60_000,
    });
    expect(consumer).toBeDefined();
    await settled();
    expect(handled).toContain('modest');
  },
  'event streams': async () => {
    const sessions = createEventSessions(5);
    for (const _ of many) await sessions.open('greedy');
    expect(await sessions.open('modest')).toBeDefined();
  },
  'bodies of requests': async () => {
    const bodies = createRequestBodies({ setTimer: noTimer });
    const send = (caller: string) =>
      bodies
        .open(caller)
        .read(
          new Request('http://watch.example', { method: 'POST', body: Buffer.alloc(4_000_000) }),
          5_000_000,
        );
    const results = await Promise.allSettled(many.slice(0, 30).map(() => send('greedy')));
    expect(results.some(({ status }) => status === 'rejected')).toBe(true);
    expect(await send('modest')).toHaveLength(4_000_000);
  },
  'calls per minute': async () => {
    const limiter = createCallLimiter({ perMinute: 10, atOnce: 4, now: () => new Date(0) });
    for (const _ of many) await limiter.admit('greedy');
    expect(await limiter.admit('modest')).toMatchObject({ kind: 'admitted' });
  },
};

const page = readFileSync('docs/operate/security.md', 'utf8');
const [, section = ''] = /^## Shares of callers\n([^]*?)(?=^## )/m.exec(page) ?? [];
const rows = section.split('\n').flatMap((line) => /^- (.+?) \(/.exec(line)?.[1] ?? []);

test('each share on the page about security has a case', () => {
  expect(rows.toSorted()).toEqual(Object.keys(cases).toSorted());
});

const cache = 'answers of servers that are kept';
/** Row of each file that divides something by caller or keeps it for all, and how often (`none`: of our own). */
const places: Record<string, string> = {
  'adapters/egress/cookies.ts': cache,
  'adapters/embedded/files/media-store.ts': 'none',
  'adapters/embedded/load/fair-turns.ts': 'deliveries',
  'adapters/embedded/load/limit-decodes.ts': 'runs of ffmpeg',
  'adapters/embedded/names/lookups.ts, 2 times': 'lookups of names',
  'adapters/embedded/queue/delivery-queue.ts': 'deliveries',
  'adapters/embedded/runs/run-table.ts': 'none',
  'adapters/embedded/sqlite/record.ts': 'none',
  'adapters/media/stream-capturer.ts': cache,
  'adapters/media/clips/kept-stream.ts': cache,
  'adapters/media/ffmpeg/decoder-pool.ts': cache,
  'adapters/media/ffmpeg/image-pool.ts': 'pictures that a built-in model decodes',
  'adapters/media/hls/playlist/playlist-budget.ts': 'large playlists',
  'adapters/media/hls/playlist/find-playlist.ts': cache,
  'adapters/media/hls/segments/fetch-segments.ts': cache,
  'adapters/media/rtsp/connection/connection-turns.ts, 2 times': cache,
  'adapters/media/rtsp/session/rtsp-sessions.ts': cache,
  'adapters/media/web/open-authenticated.ts': cache,
  'adapters/platforms/platform-capturer.ts': cache,
  'adapters/vision/objects/thread-detector.ts': 'calls of a built-in or local model',
  'cli/service/capture-scheduler.ts, 2 times': 'captures of checks',
  'cli/service/vision-model.ts': 'calls of a built-in or local model',
};

test('each place that divides something by caller, or keeps it for all, belongs to a row of the page', () => {
  const divides = /(?<!function )\bcreate(?:Fair\w+|ByteCache)(?:<.*>)?\(/g;
  const files = globSync('{adapters,cli,core}/**/*.ts', { exclude: ['adapters/{aws/**,*.ts}'] });
  const found = files.flatMap((file) => {
    const { length } = [...readFileSync(file, 'utf8').matchAll(divides)];
    return length === 0 ? [] : [length === 1 ? file : `${file}, ${length} times`];
  });
  expect(found.toSorted()).toEqual(Object.keys(places).toSorted());
  expect([...rows, 'none']).toEqual(expect.arrayContaining(Object.values(places)));
});

test.each(Object.entries(cases))('the share of %s is left to a modest caller', (_, run) => run());
