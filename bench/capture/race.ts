import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createImageDecoder } from '../../adapters/media/ffmpeg/decode-image.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import { mean, quantile, readProcessorTimes } from '../harness.ts';
import { runFfmpeg, words } from '../streams.ts';

export type RaceMode = 'frames' | 'clip';
/** Stream of a race, with the time of its first frame. */
export type RaceSource = { url: string; kind: 'hls' | 'rtsp'; segmentSeconds: number; startedAtMs: number };
type Racers = { capturer: StreamCapturer; ffmpegPath: string; directory: string };
type Contender = 'watchpost' | 'bare';
/**
 * Medians of the wall time, means of the processor time, in milliseconds, and the worst age of a frame without the time for which the newest segment was available
 * at the start of the capture, in seconds.
 */
export type Result = { wallMs: number; cpuMs: number; worstBehindSeconds: number };

const groupOfPicturesMs = 2000;
const warmUpRuns = 5;
const clipSeconds = 3;

/**
 * Runs all contenders in turn, so that other load slows all of them equally. The first runs of Watchpost are not
 * counted: a service captures for hours, with compiled code and open connections.
 */
export async function race(source: RaceSource, mode: RaceMode, rounds: number, racers: Racers) {
  const { capturer, ffmpegPath, directory } = racers;
  const file = join(directory, mode === 'frames' ? 'frame.jpg' : 'clip.mp4');
  const contenders: Record<Contender, () => Promise<Uint8Array>> = {
    watchpost: async () => {
      const request = { url: source.url, mode, clipSeconds, resolveAgain: false, caller: 'bench' };
      return (await capturer.capture(request, AbortSignal.timeout(60_000))).frame;
    },
    bare: async () => {
      const output = mode === 'frames' ? frameArguments : clipArguments;
      await runFfmpeg(ffmpegPath, [...words(`${inputArguments(source, mode)} ${output}`), file]);
      return readFile(file);
    },
  };
  const samples: Record<Contender, Result[]> = { watchpost: [], bare: [] };
  for (let run = 0; run < warmUpRuns; run += 1) await contenders.watchpost();
  for (let round = 0; round < rounds; round += 1)
    for (const contender of round % 2 === 0 ? order : order.toReversed()) {
      if (source.kind === 'rtsp') await samePlaceInGroup(source, round);
      const { made, wallMs, nodeMs, childrenMs, startedAtMs, endedAtMs } = await measure(
        contenders[contender],
      );
      const behind =
        mode === 'frames'
          ? computeBehind(source, startedAtMs, endedAtMs, await readTimecode(made, ffmpegPath))
          : 0;
      const cpuMs = contender === 'watchpost' ? nodeMs + childrenMs : childrenMs;
      samples[contender].push({ wallMs, cpuMs, worstBehindSeconds: behind });
    }
  return { watchpost: toResult(samples.watchpost), bare: toResult(samples.bare) };
}

const order: Contender[] = ['watchpost', 'bare'];

/**
 * Aligns the contenders of a round. For RTSP the wait for the next key frame dominates, so all of them join at the
 * same position in the GOP.
 */
async function samePlaceInGroup({ startedAtMs }: RaceSource, round: number): Promise<void> {
  const wanted = (round * 737) % groupOfPicturesMs;
  const place = (Date.now() - startedAtMs) % groupOfPicturesMs;
  await sleep((wanted - place + groupOfPicturesMs) % groupOfPicturesMs);
}

/**
 * Returns the age of a frame at the end, less the time for which the newest segment was available at the start. The timecode restarts with each loop, and no
 * frame is older than half of one. Clocks may differ by some milliseconds.
 */
function computeBehind(source: RaceSource, startedAtMs: number, endedAtMs: number, shows: number): number {
  const toPlayed = (atMs: number) => (atMs - source.startedAtMs) / 1000;
  const sinceShown = (((toPlayed(endedAtMs) - shows) % loopSeconds) + loopSeconds) % loopSeconds;
  const ageSeconds = sinceShown > loopSeconds / 2 ? sinceShown - loopSeconds : sinceShown;
  return source.kind === 'hls' ? ageSeconds - (toPlayed(startedAtMs) % source.segmentSeconds) : ageSeconds;
}

function toResult(samples: Result[]): Result {
  const wall = samples.map(({ wallMs }) => wallMs);
  return {
    wallMs: quantile(wall, 0.5),
    cpuMs: mean(samples.map(({ cpuMs }) => cpuMs)),
    worstBehindSeconds: Math.max(...samples.map(({ worstBehindSeconds }) => worstBehindSeconds)),
  };
}

/** Time to settle, in milliseconds: a process that ends and the next one that starts belong to the run. */
const settleMs = 250;

/** Measures the wall time of some work, and the processor time of this process and of its children. */
export async function measure<Made>(work: () => Promise<Made>) {
  const before = readProcessorTimes();
  const startedAtMs = Date.now();
  const from = performance.now();
  const made = await work();
  const wallMs = performance.now() - from;
  const endedAtMs = Date.now();
  await sleep(settleMs);
  const after = readProcessorTimes();
  const nodeMs = after.ownMs - before.ownMs;
  return { made, wallMs, nodeMs, childrenMs: after.childrenMs - before.childrenMs, startedAtMs, endedAtMs };
}

const frameArguments = '-frames:v 1 -vf scale=896:-2 -q:v 3 -update 1 -y';
/** Arguments with the encoder settings of a capture. A slower preset would slow down bare ffmpeg, and `-t` would count from before the first key frame. */
const clipArguments =
  `-vf setpts=PTS-STARTPTS,trim=duration=${clipSeconds},fps=5,scale=672:-2 ` +
  '-an -c:v libx264 -preset ultrafast -crf 28 -x264-params cabac=1:deblock=0,0 -movflags +faststart -y';

/**
 * Returns the flags of bare ffmpeg that help, the best of a dozen combinations on these streams: what a developer would write without Watchpost.
 * `-skip_frame nokey` is not among them: with B-frames, ffmpeg then waits for two more key frames.
 */
function inputArguments({ url, kind, segmentSeconds }: RaceSource, mode: RaceMode): string {
  const decoding = mode === 'frames' ? '-threads 1 -flags low_delay' : '-skip_frame noref';
  const segments = mode === 'frames' ? 1 : Math.ceil(clipSeconds / segmentSeconds);
  const protocol =
    kind === 'rtsp'
      ? '-probesize 32k -analyzeduration 1000000 -rtsp_transport tcp -allowed_media_types video'
      : `-probesize 150k -analyzeduration 100000 -live_start_index -${segments}`;
  return `${decoding} ${protocol} -fpsprobesize 0 -i ${url}`;
}

/** Frame rate of the loop. */
export const framesPerSecond = 30;
/** Length of the loop after which the timecode restarts, in seconds. */
export const loopSeconds = 60;
const bits = 11;
const boxShare = 1 / 16;
/**
 * Size for reading. Both sizes are 16:9, and a box has 4 × 3.6 px. Larger pictures would fill the memory of this process, and the garbage collector
 * would run during the captures that are measured.
 */
const readSize = { width: 64, height: 36 };

/** Filter that draws the timecode: the number of each frame as black or white boxes along the top, which survive scaling and compression. */
export const burnInTimecode = [
  'drawbox=x=0:y=0:w=iw:h=ih/10:color=black:t=fill',
  ...Array.from(
    { length: bits },
    (_, bit) =>
      `drawbox=x=iw*${bit * boxShare}:y=0:w=iw*${boxShare}:h=ih/10:color=white:t=fill:enable='mod(floor(n/${2 ** bit}),2)'`,
  ),
].join(',');

/** Reads the timecode of a JPEG, in seconds since the start of the loop. */
async function readTimecode(jpeg: Uint8Array, ffmpegPath: string): Promise<number> {
  const rgb = await createImageDecoder({ ffmpegPath }).decode(jpeg, readSize, AbortSignal.timeout(20_000));
  const row = Math.round(readSize.height / 20);
  let frame = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const column = Math.round((bit + 0.5) * boxShare * readSize.width);
    if ((rgb[(row * readSize.width + column) * 3] ?? 0) > 128) frame += 2 ** bit;
  }
  return frame / framesPerSecond;
}
