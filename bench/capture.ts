/**
 * Measures speed, freshness and cost of captures beside bare ffmpeg on the same live stream: `npm run bench -- capture
 * [-- --quick] [--only clip] [--process-per-capture]`. Each stream is served by a separate process on loopback, with a delay added to each
 * response. `--only` selects races whose name, such as `HLS 2 s, 60 ms, clip`, contains the text. Frames are decoded in processes that stay,
 * as on one machine; `--process-per-capture` measures them as on AWS.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { poolDecoders } from '../adapters/media/ffmpeg/decoder-pool.ts';
import { locateFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createStreamCapturer } from '../adapters/media/stream-capturer.ts';
import type { InputMode } from '../core/records/capture.ts';
import type { Raced } from './capture/goals.ts';
import { countNetworkTime } from './capture/network-time.ts';
import { race, type RaceSource } from './capture/race.ts';
import { recordStreams, segmentFolder } from './capture/record.ts';
import { formatReport } from './capture/report.ts';
import { startStreamServer } from './capture/stream-server.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'process-per-capture': { type: 'boolean', default: false },
  },
});
const { quick, only } = values;
// A full run takes ten minutes on an idle machine. The garbage collector runs in every third capture: fewer rounds measure its luck.
const rounds = quick
  ? { hls: 3, clip: 3, rtsp: 3, rtspClip: 1 }
  : { hls: 12, clip: 12, rtsp: 6, rtspClip: 3 };
const modes: InputMode[] = ['frames', 'clip', 'hybrid'];

await using cleanup = new AsyncDisposableStack();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-capture-'));
const { path: ffmpegPath, version } = await locateFfmpeg({
  setting: process.env['WATCHPOST_FFMPEG'],
  env: process.env,
});
const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const network = countNetworkTime(createGuardedHttp(guard));
cleanup.defer(() => network.http.close());
const runner = createFfmpegRunner({ ffmpegPath, tempDir: directory });
const maxProcesses = availableParallelism() + 1;
const ffmpeg = values['process-per-capture']
  ? runner
  : poolDecoders({ ffmpegPath, ffmpeg: runner, maxProcesses });
const capturer = createStreamCapturer({ guard, http: network.http, ffmpeg, now: () => new Date() });
const racers = { capturer, takeNetworkMs: network.takeMs, ffmpegPath, directory };

const machine = [
  `${new Date().toISOString().slice(0, 10)}, ffmpeg ${version}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`,
  `${quick ? 'Quick run' : 'Full run'}; load of the machine at the start: ${loadavg()[0]?.toFixed(1)}`,
];
const { file } = await recordStreams(ffmpegPath, directory, [2, 6]);
const raced: Raced[] = [];
for (const segmentSeconds of [2, 6]) {
  for (const delayMs of [0, 60]) {
    for (const mode of modes) await raceHls(segmentSeconds, delayMs, mode, '/live.m3u8');
    await raceHls(segmentSeconds, delayMs, 'frames', '/master.m3u8');
  }
}
for (const mode of modes) await raceRtsp(mode);
console.log(formatReport(raced, machine));

async function raceHls(
  segmentSeconds: number,
  delayMs: number,
  mode: InputMode,
  path: string,
): Promise<void> {
  const name = `HLS ${segmentSeconds} s, ${delayMs} ms${path === '/master.m3u8' ? ', multivariant' : ''}`;
  if (!isSelected(name, mode)) return;
  const folder = segmentFolder(directory, segmentSeconds);
  const server = await startStreamServer('hls-process.ts', [folder, `${segmentSeconds}`, `${delayMs}`]);
  const { port, startedAtMs } = server;
  const url = `http://127.0.0.1:${port}${path}`;
  const source = { name, url, kind: 'hls', segmentSeconds, startedAtMs } as const;
  try {
    await enter(source, delayMs, mode, mode === 'frames' ? rounds.hls : rounds.clip);
  } finally {
    await server.close();
  }
}

async function raceRtsp(mode: InputMode): Promise<void> {
  if (!isSelected('RTSP', mode)) return;
  const { port, startedAtMs, close } = await startStreamServer('rtsp-process.ts', [ffmpegPath, file]);
  const url = `rtsp://127.0.0.1:${port}/camera`;
  const source = { name: 'RTSP', url, kind: 'rtsp', segmentSeconds: 0, startedAtMs } as const;
  try {
    await enter(source, 0, mode, mode === 'frames' ? rounds.rtsp : rounds.rtspClip);
  } finally {
    await close();
  }
}

function isSelected(name: string, mode: InputMode): boolean {
  return `${name}, ${mode}`.includes(only);
}

async function enter(source: RaceSource, delayMs: number, mode: InputMode, count: number): Promise<void> {
  const results = await race(source, mode, count, racers);
  raced.push({ source, delayMs, mode, results });
  console.error(`${source.name}, ${mode}: ${Math.round(results.watchpost.wallMs)} ms`);
}
