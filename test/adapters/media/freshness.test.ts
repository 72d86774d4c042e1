import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp, type GuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createFfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer } from '../../../adapters/media/hls/capture-hls.ts';
import { compareMotion } from '../../../adapters/media/motion/compare-motion.ts';
import { computeCoverage } from '../../../core/policies/job/coverage.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { getJob } from '../../../core/job/read-jobs.ts';
import { after, start } from '../../contract/records.ts';
import { startHlsServer, type HlsServer } from '../../support/hls/hls-server.ts';
import { ffmpegPath } from '../../support/hls/recording.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';

/**
 * Handling of frames that show nothing new. Segments, server, captures and comparison are real; the clock belongs
 * to the test. Each segment has 2 s.
 */

const segmentSeconds = 2;
const scenes = {
  moving: 'testsrc2=size=320x180:rate=2,noise=alls=12:allf=t',
  /** Output of an encoder whose camera has stopped. */
  frozen: 'testsrc2=size=320x180:rate=2,trim=end_frame=1,loop=loop=-1:size=1,setpts=N/2/TB',
  black: 'color=black:size=320x180:rate=2',
};
type Scene = keyof typeof scenes;

const directory = folderOfFile();
const segments: Record<Scene, Buffer[]> = { moving: [], frozen: [], black: [] };
let world: World;
let server: HlsServer;
let gate: Gate;
let http: GuardedHttp;

beforeAll(async () => {
  for (const scene of ['moving', 'frozen', 'black'] as const) segments[scene] = await listSegments(scene);
});

beforeEach(() => {
  world = createWorld({ maxJobSeconds: 3600 });
});
afterEach(async () => {
  await http.close();
  await gate.close();
  await server.close();
});

async function listSegments(scene: Scene): Promise<Buffer[]> {
  const encoding =
    '-t 60 -c:v libx264 -preset ultrafast -g 4 -sc_threshold 0 -pix_fmt yuv420p -f hls -hls_time 2 -hls_list_size 0';
  const folder = await mkdtemp(join(directory, scene));
  const input = ['-nostdin', '-loglevel', 'error', '-f', 'lavfi', '-i', scenes[scene]];
  const output = ['-hls_segment_filename', join(folder, '%03d.ts'), join(folder, 'list.m3u8')];
  await promisify(execFile)(ffmpegPath, [...input, ...encoding.split(' '), ...output]);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts')).toSorted();
  return Promise.all(names.map((name) => readFile(join(folder, name))));
}

type Gate = { port: number; shut(): Promise<void>; open(): Promise<void>; close(): Promise<void> };

/** Proxy of a server that stops and restarts at its port. */
async function startGate(target: number): Promise<Gate> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => (near.destroy(), far.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  const open = async (port: number): Promise<void> =>
    void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  const shut = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await once(server.close(), 'close');
  };
  await open(0);
  const { port } = server.address() as AddressInfo;
  return { port, shut, open: () => open(port), close: shut };
}

/** Monitor of a stream that shows one scene after another. */
async function watch(played: [Scene, number][], config: Record<string, unknown> = {}) {
  const showing = played.flatMap(([scene, count]) => segments[scene].slice(0, count));
  server = await startHlsServer({ segmentSeconds, segments: showing, initialization: null });
  gate = await startGate(Number(new URL(server.url('/')).port));
  http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
  const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: directory });
  const streams = createHlsCapturer({ http, ffmpeg, now: world.c.now });
  Object.assign(world.c, { streams, compareMotion });
  const request = monitorRequest({
    stream_url: `http://127.0.0.1:${gate.port}/live.m3u8`,
    input_mode: 'frames',
    interval_seconds: 10,
    monitor_duration_seconds: 3600,
    ...config,
  });
  const { run_id: jobId } = await createMonitor(request, 'harbour', world.c);
  let step = await world.begin({ run_id: jobId, generation: 0 });
  return {
    /** Ticks until `seconds` after the start, or the end of the job. */
    until: async (seconds: number, at: (tickSeconds: number) => Promise<void> | void = advance) => {
      for (
        ;
        !step.done && Date.parse(step.wait_until) < after(seconds).getTime();
        step = await world.tick(step)
      ) {
        await at((Math.max(Date.parse(step.wait_until), world.clock.now.getTime()) - start.getTime()) / 1000);
      }
    },
    seen: async () => {
      const events = await world.c.jobs.events(jobId, 0, 1000, new Date(0));
      return events.flatMap((event) => (event.type === 'progress' ? [event.data] : []));
    },
    job: async () => (await getJob(jobId, 'harbour', world.c)).job,
  };
}

/** The stream advances; three segments are available at the start. */
function advance(tickSeconds: number): void {
  server.newest = 2 + Math.floor(tickSeconds / segmentSeconds);
}

describe('frozen frame', () => {
  test('a frozen frame is not checked, appears in progress and stats, and is not a gap', async () => {
    const { until, seen, job } = await watch(
      [
        ['moving', 10],
        ['frozen', 30],
        ['moving', 10],
      ],
      {
        enable_prefilter: false,
      },
    );
    await until(90);
    const pictures = (await seen()).map(({ picture }) => picture);
    expect(pictures.slice(0, 2)).toEqual(['ok', 'ok']);
    expect(pictures.filter((picture) => picture === 'frozen').length).toBeGreaterThanOrEqual(2);
    expect(pictures.at(-1)).toBe('ok');
    const watched = await job();
    expect(watched.counters.frozen_frames).toBe(pictures.filter((picture) => picture === 'frozen').length);
    expect(computeCoverage(watched, world.clock.now).ratio).toBe(1);
  });
});

describe('black frame', () => {
  test('a black frame is not checked and appears in progress and stats', async () => {
    const { until, seen, job } = await watch([
      ['moving', 10],
      ['black', 10],
      ['moving', 10],
    ]);
    await until(50);
    expect((await seen()).map(({ picture }) => picture)).toEqual(['ok', 'ok', 'black', 'black', 'ok']);
    expect((await job()).counters).toMatchObject({ black_frames: 2, frames_skipped: 2 });
  });
});

describe('stale playlist', () => {
  test('a stale playlist is captured again soon, and is a gap once it advances', async () => {
    const { until, seen, job } = await watch([['moving', 30]]);
    await until(20);
    await until(50, () => undefined);
    await until(60);
    const looks = await seen();
    expect(looks.map(({ stream }) => stream)).toEqual(['ok', 'ok', 'stale', 'stale', 'stale', 'ok']);
    expect(looks[3]).toMatchObject({ picture: 'repeated', triggered: null });
    expect(computeCoverage(await job(), world.clock.now).gaps).toEqual([
      { from: after(10).toISOString(), to: after(50).toISOString(), reason: 'stale' },
    ]);
    expect((await job()).counters.stale_captures).toBe(3);
  });

  test('a playlist that is stale beyond the grace period is a lost stream', async () => {
    const { until, job } = await watch([['moving', 10]]);
    await until(200, () => undefined);
    expect(await job()).toMatchObject({ status: 'failed', reason: 'stream_lost' });
  });
});

describe('unavailable server', () => {
  test('a server that is unavailable within the grace period causes only a gap', async () => {
    const { until, seen, job } = await watch([
      ['moving', 30],
      ['moving', 30],
    ]);
    await until(20);
    await gate.shut();
    await until(50);
    await gate.open();
    await until(90);
    const looks = await seen();
    const down = looks.filter(({ stream }) => stream === 'reconnecting');
    expect(down.length).toBeGreaterThan(3);
    expect(looks.at(-1)).toMatchObject({ stream: 'ok', picture: 'ok' });
    expect(await job()).toMatchObject({ status: 'running', counters: { failed_captures: down.length } });
    const { gaps, gap_seconds: gapSeconds } = computeCoverage(await job(), world.clock.now);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ from: after(10).toISOString(), reason: 'stream' });
    expect(gapSeconds).toBeGreaterThanOrEqual(40);
  });

  test('a server that is unavailable beyond the grace period fails the job as stream_lost', async () => {
    const { until, job } = await watch([['moving', 30]]);
    await until(20);
    await gate.shut();
    await until(200);
    expect(await job()).toMatchObject({
      status: 'failed',
      reason: 'stream_lost',
      failure: { code: 'STREAM_FETCH_FAILED', message: 'Failed to fetch stream' },
    });
  });
});
