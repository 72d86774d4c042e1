/**
 * Measures captures from an RTSP session that stays open beside captures that open a connection each: `npm run bench -- rtsp
 * [-- --rounds 5]`. The stream has 720p30 H.264 with B-frames and a key frame every 2 s.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { poolDecoders } from '../adapters/media/ffmpeg/decoder-pool.ts';
import { locateFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../adapters/media/rtsp/capture-rtsp.ts';
import { createRtspSessions } from '../adapters/media/rtsp/rtsp-sessions.ts';
import type { StreamCapturer } from '../core/ports/stream-capturer.ts';
import type { InputMode } from '../core/records/capture.ts';
import { setSystemTimer } from '../core/time-limit.ts';
import { mean, measure, median } from './capture/measure.ts';
import { recordStreams } from './capture/record.ts';
import { startStreamServer } from './capture/stream-server.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);
const clipSeconds = 3;
/** Captures of one job are further apart. Close ones would wait for a newer frame. */
const betweenMs = 1_300;

await using cleanup = new AsyncDisposableStack();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-rtsp-'));
const { path: ffmpegPath, version } = await locateFfmpeg({
  setting: process.env['WATCHPOST_FFMPEG'],
  env: process.env,
});
const { file } = await recordStreams(ffmpegPath, directory, []);
const server = await startStreamServer('rtsp-process.ts', [ffmpegPath, file]);
cleanup.defer(() => server.close());
const url = `rtsp://127.0.0.1:${server.port}/camera`;

const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const ffmpeg = poolDecoders({
  ffmpegPath,
  ffmpeg: createFfmpegRunner({ ffmpegPath, tempDir: directory }),
  maxProcesses: availableParallelism() + 1,
});
const elapsedMs = (): number => performance.now();
const sessions = createRtspSessions({ guard, elapsedMs, setTimer: setSystemTimer, maxKept: 1 });
cleanup.defer(() => sessions.close());
const common = { guard, ffmpeg, now: () => new Date() };
const withSession = createRtspCapturer({ ...common, sessions });
const alone = createRtspCapturer(common);

console.log(
  `ffmpeg ${version}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load at the start ${loadavg()[0]?.toFixed(1)}; medians of ${rounds} captures\n`,
);
console.log(
  '| capture | open session, ms | connection each, ms | ratio | processor time, ms | of a connection each, ms | age of the frame, s |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const mode of ['frames', 'clip'] as const) {
  // The first capture opens the session, the second one starts the decoder.
  for (let warmUp = 0; warmUp < 3; warmUp += 1) await capture(withSession, mode);
  const kept = await repeat(withSession, mode);
  const each = await repeat(alone, mode);
  const row = [mode, kept.wallMs.toFixed(0), each.wallMs.toFixed(0), (kept.wallMs / each.wallMs).toFixed(2)];
  console.log(
    `| ${[...row, kept.cpuMs.toFixed(0), each.cpuMs.toFixed(0), kept.ageSeconds.toFixed(1)].join(' | ')} |`,
  );
}

async function repeat(capturer: StreamCapturer, mode: InputMode) {
  const wallMs: number[] = [];
  const cpuMs: number[] = [];
  const ageSeconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await sleep(betweenMs);
    const measured = await measure(async () => {
      const startedMs = Date.now();
      ageSeconds.push((startedMs - (await capture(capturer, mode)).capturedAt.getTime()) / 1000);
    });
    wallMs.push(measured.wallMs);
    cpuMs.push(measured.nodeMs + measured.childrenMs);
  }
  return { wallMs: median(wallMs), cpuMs: mean(cpuMs), ageSeconds: median(ageSeconds) };
}

function capture(capturer: StreamCapturer, mode: InputMode) {
  return capturer.capture(
    { url, mode, clipSeconds, resolveAgain: false, caller: 'bench' },
    AbortSignal.timeout(60_000),
  );
}
