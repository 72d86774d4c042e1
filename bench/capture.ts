/**
 * Measures speed, freshness and cost of captures beside bare ffmpeg with its best flags on the same live stream. Each stream is served by a process of its own
 * on loopback, with a delay added to each response. Then it compares an open RTSP session with a connection for each capture.
 * Usage: node bench/capture.ts
 *   --quick                  fewer rounds
 *   --only TEXT              races whose name, such as `HLS 2 s, 60 ms, clip` or `RTSP sessions`, contains the text
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { poolDecoders } from '../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../adapters/media/rtsp/capture-rtsp.ts';
import { createRtspSessions } from '../adapters/media/rtsp/rtsp-sessions.ts';
import { createStreamCapturer } from '../adapters/media/stream-capturer.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import type { StreamCapturer } from '../core/ports/stream-capturer.ts';
import { setSystemTimer } from '../core/time-limit.ts';
import {
  burnInTimecode,
  framesPerSecond,
  loopSeconds,
  measure,
  race,
  type RaceMode,
} from './capture/race.ts';
import { describeMachine, findFfmpeg, mean, quantile, round } from './harness.ts';
import { type LiveStream, runFfmpeg, startStreams, words } from './streams.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
});
// A full run takes ten minutes on an idle machine. The garbage collector runs in every third capture: fewer rounds measure its luck.
const rounds = values.quick
  ? { hls: 3, rtsp: 3, rtspClip: 1, session: 3 }
  : { hls: 12, rtsp: 6, rtspClip: 3, session: 5 };
const modes = ['frames', 'clip'] as const;

await using cleanup = new AsyncDisposableStack();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-capture-'));
const located = await findFfmpeg();
const ffmpegPath = located.path;
const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const http = createGuardedHttp(guard);
cleanup.defer(() => http.close());
const runner = createFfmpegRunner({ ffmpegPath, tempDir: directory });
const maxProcesses = availableParallelism() + 1;
const ffmpeg = poolDecoders({ ffmpegPath, ffmpeg: runner, maxProcesses });
const now = () => new Date();
const racers = { capturer: createStreamCapturer({ guard, http, ffmpeg, now }), ffmpegPath, directory };

const file = await recordLoop();
const rows: Record<string, object> = {};
const goals: { name: string; isMet: boolean }[] = [];
for (const segmentSeconds of [2, 6])
  for (const delayMs of [0, 60]) {
    for (const mode of modes) await raceHls(segmentSeconds, delayMs, mode, '/live.m3u8');
    await raceHls(segmentSeconds, delayMs, 'frames', '/master.m3u8');
  }
for (const mode of modes) await raceRtsp(mode);
if (Object.keys(rows).length > 0) console.table(rows);
if ('RTSP sessions'.includes(values.only)) console.table(await compareSessions());
const missed = goals.filter(({ isMet }) => !isMet);
console.log(`${goals.length - missed.length} of ${goals.length} goals met`);
for (const { name } of missed) console.log(`missed: ${name}`);
console.log(describeMachine(located));

/** Records 720p30 H.264 at 3 Mb/s with a key frame every 2 s and camera noise, longer than a race takes: a loop would go back in time. */
async function recordLoop(): Promise<string> {
  const [loop, recording] = [join(directory, 'loop.mp4'), join(directory, 'recording.mp4')];
  const scene = `testsrc2=size=1280x720:rate=${framesPerSecond},noise=alls=8:allf=t,${burnInTimecode}`;
  const encoding = `-t ${loopSeconds} -c:v libx264 -preset ultrafast -b:v 3M -maxrate 3M -bufsize 6M -g ${2 * framesPerSecond} -sc_threshold 0 -bf 2 -pix_fmt yuv420p`;
  await runFfmpeg(ffmpegPath, ['-f', 'lavfi', '-i', scene, ...words(encoding), loop]);
  await runFfmpeg(ffmpegPath, words(`-stream_loop 4 -i ${loop} -c copy ${recording}`));
  return recording;
}

/** Plays the recording, over HLS as if it had begun in the middle of the newest segment. */
function play(segmentSeconds: number, delayMs = 0) {
  const renditions: LiveStream['renditions'] = [{ height: 720, file }];
  const streams = [{ name: 'stream', renditions, framesPerSecond, segmentSeconds }];
  return startStreams({ ffmpegPath, ageSeconds: 6.5 * segmentSeconds, delayMs, streams });
}

async function raceHls(segmentSeconds: number, delayMs: number, mode: RaceMode, path: string) {
  const variant = path === '/master.m3u8' ? ', multivariant' : '';
  const name = `HLS ${segmentSeconds} s, ${delayMs} ms${variant}, ${mode}`;
  const time = delayMs === 0 ? 0.8 : 0.7;
  const goal = mode === 'frames' ? { time, cpu: 1.2 } : { cpu: 1.1 };
  await raceStream({ name, mode, segmentSeconds, delayMs, path, rounds: rounds.hls }, goal);
}

async function raceRtsp(mode: RaceMode) {
  const isFrame = mode === 'frames';
  const options = {
    segmentSeconds: 0,
    delayMs: 0,
    path: '',
    rounds: isFrame ? rounds.rtsp : rounds.rtspClip,
  };
  const goal = isFrame ? { time: 1.1, cpu: 1.2 } : { cpu: 1.2 };
  await raceStream({ name: `RTSP, ${mode}`, mode, ...options }, goal);
}

type RaceOptions = {
  name: string;
  mode: RaceMode;
  segmentSeconds: number;
  delayMs: number;
  path: string;
  rounds: number;
};

/** Races on a stream, and compares with the goals: shares of the time and of the processor time of bare ffmpeg, and the age of a frame. */
async function raceStream(
  { name, mode, segmentSeconds, delayMs, path, rounds: count }: RaceOptions,
  { time, cpu }: { time?: number; cpu: number },
): Promise<void> {
  if (!name.includes(values.only)) return;
  await using server = await play(segmentSeconds, delayMs);
  const url = server.url('stream').replace('/live.m3u8', path);
  const kind = segmentSeconds === 0 ? 'rtsp' : 'hls';
  const source = { url, kind, segmentSeconds, startedAtMs: server.startedAtMs } as const;
  const { watchpost, bare } = await race(source, mode, count, racers);
  const [ratio, cpuRatio] = [watchpost.wallMs / bare.wallMs, watchpost.cpuMs / bare.cpuMs];
  const behind = watchpost.worstBehindSeconds;
  rows[name] = {
    'watchpost ms': Math.round(watchpost.wallMs),
    'best flags ms': Math.round(bare.wallMs),
    ratio: round(ratio),
    'processor ratio': round(cpuRatio),
    ...(mode === 'frames' && { 'worst age s': round(behind) }),
  };
  goals.push({ name: `${name}: processor time`, isMet: cpuRatio <= cpu });
  if (time === undefined) return;
  goals.push({ name: `${name}: time`, isMet: ratio <= time });
  if (kind === 'hls')
    goals.push({ name: `${name}: age beyond the live edge`, isMet: behind <= segmentSeconds + 0.5 });
}

/** Compares captures from an RTSP session that stays open with captures that open a connection each. */
async function compareSessions(): Promise<Record<string, object>> {
  await using server = await play(0);
  const url = server.url('stream');
  const sessions = createRtspSessions({
    guard,
    elapsedMs: () => performance.now(),
    setTimer: setSystemTimer,
    maxKept: 1,
  });
  const withSession = createRtspCapturer({ guard, ffmpeg, now, sessions });
  const alone = createRtspCapturer({ guard, ffmpeg, now });
  const compared: Record<string, object> = {};
  for (const [mode, goalMs] of [
    ['frames', 100],
    ['clip', 400],
  ] as const) {
    // The first capture opens the session, the second one starts the decoder.
    await repeat(withSession, url, mode, 3);
    const kept = await repeat(withSession, url, mode, rounds.session);
    const each = await repeat(alone, url, mode, rounds.session);
    compared[`RTSP sessions, ${mode}`] = {
      'open session ms': kept.wallMs,
      'connection each ms': each.wallMs,
      ratio: round(kept.wallMs / each.wallMs),
      'processor ms': Math.round(kept.cpuMs),
      'of a connection each': Math.round(each.cpuMs),
      'age s': round(kept.ageSeconds, 1),
    };
    goals.push({ name: `RTSP sessions, ${mode}: time`, isMet: kept.wallMs <= goalMs });
  }
  await sessions.close();
  return compared;
}

async function repeat(capturer: StreamCapturer, url: string, mode: RaceMode, count: number) {
  const request = { url, mode, clipSeconds: 3, resolveAgain: false, caller: 'bench' };
  const runs: { wallMs: number; cpuMs: number; ageSeconds: number }[] = [];
  for (let run = 0; run < count; run += 1) {
    // Captures of one job are further apart. Close ones would wait for a newer frame.
    await sleep(1_300);
    let ageSeconds = 0;
    const { wallMs, nodeMs, childrenMs } = await measure(async () => {
      const startedMs = Date.now();
      const { capturedAt } = await capturer.capture(request, AbortSignal.timeout(60_000));
      ageSeconds = (startedMs - capturedAt.getTime()) / 1000;
    });
    runs.push({ wallMs, cpuMs: nodeMs + childrenMs, ageSeconds });
  }
  return {
    wallMs: quantile(
      runs.map(({ wallMs }) => wallMs),
      0.5,
    ),
    cpuMs: mean(runs.map(({ cpuMs }) => cpuMs)),
    ageSeconds: mean(runs.map((run) => run.ageSeconds)),
  };
}
