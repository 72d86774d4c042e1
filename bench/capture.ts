/**
 * Measures speed, freshness and cost of captures beside bare ffmpeg with its best flags on the same live stream, and of
 * an RTSP session that stays open. Each stream is served by a process of its own on loopback, with a delay added to
 * each response.
 * Usage: npm run bench -- capture
 *   --only TEXT              races whose name, such as `HLS 2 s, 60 ms, clip` or `RTSP`, contains the text
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { poolDecoders } from '../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspSessions } from '../adapters/media/rtsp/session/rtsp-sessions.ts';
import { createStreamCapturer } from '../adapters/media/stream-capturer.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import type { StreamCapturer } from '../core/ports/stream-capturer.ts';
import { setSystemTimer } from '../core/time-limit.ts';
import { describeMachine, findFfmpeg, mean, quantile, round, startProcessorClock } from './harness.ts';
import { type LiveStream, runFfmpeg, startStreams, words } from './streams.ts';

type Mode = 'frames' | 'clip';
type Stream = { startedAtMs: number; segmentSeconds: number; count: number };
type Sample = { wallMs: number; cpuMs: number; ageSeconds: number };
/** Medians of the time, means of the processor time, and ages. */
type Result = Sample & { worstAgeSeconds: number };
/** Does its work, and returns the time of what it captured. */
type Contender = () => Promise<Date | void>;

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
// A full run takes ten minutes on an idle machine. The garbage collector runs in every third capture: fewer rounds
// measure its luck.
const rounds = { hls: 12, rtsp: { frames: 6, clip: 3 } };
const modes = ['frames', 'clip'] as const;
const [framesPerSecond, groupMs, loopSeconds, clipSeconds] = [30, 2000, 60, 3];

await using cleanup = new AsyncDisposableStack();
const { path: directory } = cleanup.use(openTemporaryFolder('bench-capture-'));
const located = await findFfmpeg();
const ffmpegPath = located.path;
const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const http = createGuardedHttp(guard);
cleanup.defer(() => http.close());
const runner = createFfmpegRunner({ ffmpegPath, tempDir: directory });
const ffmpeg = poolDecoders({ ffmpegPath, ffmpeg: runner, maxProcesses: availableParallelism() + 1 });
const now = () => new Date();
const capturer = createStreamCapturer({ guard, http, ffmpeg, now });

const file = await recordLoop();
const rows: Record<string, object> = {};
for (const segmentSeconds of [2, 6])
  for (const delayMs of [0, 60]) for (const mode of modes) await race(segmentSeconds, delayMs, mode);
for (const mode of modes) await race(0, 0, mode);
console.table(rows);
console.log(describeMachine(located));

/**
 * Records 720p30 H.264 at 3 Mb/s with a key frame every 2 s and camera noise, longer than a race takes: a loop would go
 * back in time.
 */
async function recordLoop(): Promise<string> {
  const [loop, recording] = [join(directory, 'loop.mp4'), join(directory, 'recording.mp4')];
  const scene = `testsrc2=size=1280x720:rate=${framesPerSecond},noise=alls=8:allf=t`;
  const encoding = `-t ${loopSeconds} -c:v libx264 -preset ultrafast -b:v 3M -maxrate 3M -bufsize 6M -g ${2 * framesPerSecond} -sc_threshold 0 -bf 2 -pix_fmt yuv420p`;
  await runFfmpeg(ffmpegPath, ['-f', 'lavfi', '-i', scene, ...words(encoding), loop]);
  await runFfmpeg(ffmpegPath, words(`-stream_loop 4 -i ${loop} -c copy ${recording}`));
  return recording;
}

/** Races on a stream, RTSP or with segments. HLS plays as if it had begun in the middle of the newest segment. */
async function race(segmentSeconds: number, delayMs: number, mode: Mode): Promise<void> {
  const isHls = segmentSeconds > 0;
  const name = isHls ? `HLS ${segmentSeconds} s, ${delayMs} ms, ${mode}` : `RTSP, ${mode}`;
  if (!name.includes(values.only)) return;
  const renditions: LiveStream['renditions'] = [{ height: 720, file }];
  const streams = [{ name: 'stream', renditions, framesPerSecond, segmentSeconds }];
  await using server = await startStreams({ ffmpegPath, ageSeconds: 6.5 * segmentSeconds, delayMs, streams });
  const url = server.url('stream');
  const stream = {
    startedAtMs: server.startedAtMs,
    segmentSeconds,
    count: isHls ? rounds.hls : rounds.rtsp[mode],
  };
  const contenders = {
    watchpost: () => capture(capturer, url, mode),
    bare: () => runFfmpeg(ffmpegPath, words(bareArguments(url, mode, segmentSeconds))),
  };
  const { watchpost, bare } = await takeTurns(contenders, stream);
  const session = isHls ? undefined : await raceSession(url, mode, stream);
  rows[name] = {
    'watchpost ms': Math.round(watchpost.wallMs),
    'best flags ms': Math.round(bare.wallMs),
    ratio: round(watchpost.wallMs / bare.wallMs),
    'processor ratio': round(watchpost.cpuMs / bare.cpuMs),
    'worst age s': round(watchpost.worstAgeSeconds),
    ...(session && {
      'open session ms': Math.round(session.wallMs),
      'its processor ms': Math.round(session.cpuMs),
      'its mean age s': round(session.ageSeconds),
    }),
  };
}

/** An open session reads its camera all the time, so it runs alone. */
async function raceSession(url: string, mode: Mode, stream: Stream): Promise<Result> {
  const elapsedMs = () => performance.now();
  const rtspSessions = createRtspSessions({ guard, elapsedMs, setTimer: setSystemTimer, maxKept: 1 });
  const withSession = createStreamCapturer({ guard, http, ffmpeg, now, rtspSessions });
  const { session } = await takeTurns({ session: () => capture(withSession, url, mode) }, stream);
  await rtspSessions.close();
  return session;
}

async function capture(by: StreamCapturer, url: string, mode: Mode): Promise<Date> {
  const request = { url, mode, clipSeconds, resolveAgain: false, caller: 'bench' };
  return (await by.capture(request, AbortSignal.timeout(60_000))).capturedAt;
}

/**
 * Runs contenders in turn, so that other load slows all of them equally. The first runs of Watchpost are not counted: a
 * service captures for hours, with compiled code and open connections. Ages do not include the time for which the
 * newest segment was available at the start.
 */
async function takeTurns<Name extends string>(
  contenders: Record<Name, Contender>,
  { startedAtMs, segmentSeconds, count }: Stream,
): Promise<Record<Name, Result>> {
  const samples = Object.entries<Contender>(contenders).map(([name, run]) => ({
    name,
    run,
    times: [] as Sample[],
  }));
  for (const { run } of samples.filter(({ name }) => name !== 'bare'))
    for (let time = 0; time < 5; time += 1) await run();
  for (let turn = 0; turn < count; turn += 1)
    for (const { name, run, times } of turn % 2 === 0 ? samples : samples.toReversed()) {
      // With RTSP the wait for the next key frame dominates, so all of a round join at the same position in the GOP.
      const wanted = (turn * 737 + startedAtMs - Date.now()) % groupMs;
      if (segmentSeconds === 0) await sleep((wanted + groupMs) % groupMs);
      const readClock = startProcessorClock();
      const [beganMs, from] = [Date.now(), performance.now()];
      const capturedAt = await run();
      const wallMs = performance.now() - from;
      // A process that ends and the next one that starts belong to the capture.
      await sleep(250);
      const { usedMs, childrenMs } = readClock();
      const cpuMs = name === 'bare' ? childrenMs : usedMs;
      const availableMs = segmentSeconds === 0 ? 0 : (beganMs - startedAtMs) % (segmentSeconds * 1000);
      const ageMs = capturedAt ? beganMs + wallMs - capturedAt.getTime() - availableMs : 0;
      times.push({ wallMs, cpuMs, ageSeconds: ageMs / 1000 });
    }
  const results = samples.map(({ name, times }) => {
    const each = (part: keyof Sample) => times.map((time) => time[part]);
    const [wallMs, cpuMs] = [quantile(each('wallMs'), 0.5), mean(each('cpuMs'))];
    const ages = each('ageSeconds');
    return [name, { wallMs, cpuMs, ageSeconds: mean(ages), worstAgeSeconds: Math.max(...ages) }];
  });
  return Object.fromEntries(results);
}

/**
 * Returns the flags of bare ffmpeg that help, the best of a dozen combinations on these streams, and the encoder
 * settings of a capture: what a developer would write without Watchpost. `-skip_frame nokey` is not among them: with
 * B-frames, ffmpeg then waits for two more key frames. `-t` would count from before the first key frame.
 */
function bareArguments(url: string, mode: Mode, segmentSeconds: number): string {
  const isFrame = mode === 'frames';
  const decoding = isFrame ? '-threads 1 -flags low_delay' : '-skip_frame noref';
  const protocol =
    segmentSeconds === 0
      ? '-probesize 32k -analyzeduration 1000000 -rtsp_transport tcp -allowed_media_types video'
      : `-probesize 150k -analyzeduration 100000 -live_start_index -${isFrame ? 1 : Math.ceil(clipSeconds / segmentSeconds)}`;
  const output = isFrame
    ? `-frames:v 1 -vf scale=896:-2 -q:v 3 -update 1 -y ${join(directory, 'frame.jpg')}`
    : `-vf setpts=PTS-STARTPTS,trim=duration=${clipSeconds},fps=5,scale=672:-2 -an -c:v libx264 -preset ultrafast -crf 28 -x264-params cabac=1:deblock=0,0 -movflags +faststart -y ${join(directory, 'clip.mp4')}`;
  return `${decoding} ${protocol} -fpsprobesize 0 -i ${url} ${output}`;
}
