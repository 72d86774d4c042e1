/**
 * How quickly, how fresh and how cheaply a capture is taken, beside bare ffmpeg on the same live stream: `npm run bench:capture [-- --quick]`.
 * Every stream is played by a process of its own on loopback; the delay is added to each of its answers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { locateFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createStreamCapturer } from '../adapters/media/stream-capturer.ts';
import type { InputMode } from '../core/capture.ts';
import { goalsOf, type Raced } from './capture/goals.ts';
import { countNetworkTime } from './capture/network-time.ts';
import { race, type RaceSource, type Result } from './capture/race.ts';
import { recordStreams, segmentFolder } from './capture/record.ts';
import { startStreamServer } from './capture/stream-server.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? { hls: 5, clip: 3, rtsp: 3 } : { hls: 15, clip: 7, rtsp: 9 };
const modes: InputMode[] = quick ? ['frames', 'clip'] : ['frames', 'clip', 'hybrid'];

await using cleanup = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'bench-capture-'));
cleanup.defer(() => rm(directory, { recursive: true, force: true }));
const { path: ffmpegPath, version } = await locateFfmpeg({
  setting: process.env['WATCHPOST_FFMPEG'],
  env: process.env,
});
const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const network = countNetworkTime(createGuardedHttp(guard));
cleanup.defer(() => network.http.close());
const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: directory });
const capturer = createStreamCapturer({ guard, http: network.http, ffmpeg, now: () => new Date() });
const racers = { capturer, takeNetworkMs: network.takeMs, ffmpegPath, directory };

console.log(`${new Date().toISOString().slice(0, 10)}, ffmpeg ${version}, Node ${process.version}`);
console.log(`${cpus().length} × ${cpus()[0]?.model.trim()}; ${quick ? 'a quick run' : 'a full run'}\n`);
const { file } = await recordStreams(ffmpegPath, directory, [2, 6]);
const raced: Raced[] = [];
for (const segmentSeconds of [2, 6]) {
  for (const delayMs of [0, 60]) {
    for (const mode of modes) await raceHls(segmentSeconds, delayMs, mode, '/live.m3u8');
    await raceHls(segmentSeconds, delayMs, 'frames', '/master.m3u8');
  }
}
for (const mode of modes) await raceRtsp(mode);
report();

async function raceHls(
  segmentSeconds: number,
  delayMs: number,
  mode: InputMode,
  path: string,
): Promise<void> {
  const folder = segmentFolder(directory, segmentSeconds);
  const server = await startStreamServer('hls-process.ts', [folder, `${segmentSeconds}`, `${delayMs}`]);
  const { port, startedAtMs } = server;
  const name = `HLS ${segmentSeconds} s, ${delayMs} ms${path === '/master.m3u8' ? ', multivariant' : ''}`;
  const url = `http://127.0.0.1:${port}${path}`;
  const source = { name, url, kind: 'hls', segmentSeconds, startedAtMs } as const;
  try {
    await enter(source, delayMs, mode, mode === 'frames' ? rounds.hls : rounds.clip);
  } finally {
    await server.close();
  }
}

async function raceRtsp(mode: InputMode): Promise<void> {
  const { port, startedAtMs, close } = await startStreamServer('rtsp-process.ts', [ffmpegPath, file]);
  const url = `rtsp://127.0.0.1:${port}/camera`;
  const source = { name: 'RTSP', url, kind: 'rtsp', segmentSeconds: 0, startedAtMs } as const;
  try {
    await enter(source, 0, mode, rounds.rtsp);
  } finally {
    await close();
  }
}

async function enter(source: RaceSource, delayMs: number, mode: InputMode, count: number): Promise<void> {
  const results = await race(source, mode, count, racers);
  raced.push({ source, delayMs, mode, results });
  console.error(`${source.name}, ${mode}: ${Math.round(results.watchpost.wallMs)} ms`);
}

function report(): void {
  console.table(
    raced.flatMap(({ source, mode, results }) =>
      Object.entries(results).map(([contender, result]) => ({
        stream: source.name,
        mode,
        by: contender === 'watchpost' ? contender : `ffmpeg, ${contender} flags`,
        ...rounded(result),
      })),
    ),
  );
  console.table(
    raced.flatMap(goalsOf).map((line) => ({
      ...line,
      measured: Number(line.measured.toFixed(2)),
      met: line.measured <= line.goal ? 'met' : 'missed',
    })),
  );
}

function rounded(result: Result) {
  return {
    'wall ms': Math.round(result.wallMs),
    'processor ms': Math.round(result.cpuMs),
    'age s': Number(result.ageSeconds.toFixed(2)),
    'worst age s': Number(result.worstAgeSeconds.toFixed(2)),
  };
}
