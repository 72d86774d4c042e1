import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createImageDecoder } from '../../adapters/media/ffmpeg/decode-image.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { Capture, InputMode } from '../../core/records/capture.ts';
import { mean, quantile, readProcessorTimes } from '../harness.ts';
import { runFfmpeg, words } from '../streams.ts';

/** Stream of a race, with the time of its first frame. */
export type RaceSource = BareSource & { startedAtMs: number };

/** Contenders of a race. */
export type Racers = {
  capturer: StreamCapturer;
  ffmpegPath: string;
  directory: string;
};

type Contender = 'watchpost' | 'bare';

/** Result of one contender: medians in milliseconds, processor time as a mean. */
export type Result = {
  wallMs: number;
  cpuMs: number;
  /**
   * Worst age without the time that the newest segment was already available at the start of the capture, in
   * seconds.
   */
  worstBehindSeconds: number;
};

const groupOfPicturesMs = 2000;
const warmUpRuns = 5;

/**
 * Runs all contenders in turn, so that other load slows all of them equally. The first runs of Watchpost are not
 * counted: a service captures for hours, with compiled code and open connections.
 */
export async function race(source: RaceSource, mode: InputMode, rounds: number, racers: Racers) {
  const samples: Record<Contender, Sample[]> = { watchpost: [], bare: [] };
  for (let run = 0; run < warmUpRuns; run += 1) await runOurs(source, mode, racers);
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of turn(round)) {
      if (source.kind === 'rtsp') await samePlaceInGroup(source, round);
      samples[contender].push(await takeSample(contender, source, mode, racers));
    }
  }
  return { watchpost: toResult(samples.watchpost), bare: toResult(samples.bare) };
}

function turn(round: number): Contender[] {
  return round % 2 === 0 ? ['watchpost', 'bare'] : ['bare', 'watchpost'];
}

/**
 * Aligns the contenders of a round. For RTSP the wait for the next key frame dominates, so all of them join at the
 * same position in the GOP.
 */
async function samePlaceInGroup({ startedAtMs }: RaceSource, round: number): Promise<void> {
  const wanted = (round * 737) % groupOfPicturesMs;
  const place = (Date.now() - startedAtMs) % groupOfPicturesMs;
  await sleep((wanted - place + groupOfPicturesMs) % groupOfPicturesMs);
}

type Sample = {
  wallMs: number;
  cpuMs: number;
  ageSeconds: number;
  behindSeconds: number;
};

async function takeSample(
  contender: Contender,
  source: RaceSource,
  mode: InputMode,
  racers: Racers,
): Promise<Sample> {
  if (contender === 'watchpost') {
    const { measured, capture } = await runOurs(source, mode, racers);
    const shows = await readTimecode(capture.frame, racers.ffmpegPath);
    return { ...figures(source, measured, shows), cpuMs: measured.nodeMs + measured.childrenMs };
  }
  const files = { frame: join(racers.directory, 'frame.jpg'), clip: join(racers.directory, 'clip.mp4') };
  const measured = await measure(() => bareFfmpeg(racers.ffmpegPath, source, mode, files));
  const shows =
    mode === 'frames'
      ? await readTimecode(await readFile(files.frame), racers.ffmpegPath)
      : await readLastTimecode(await readFile(files.clip), racers.ffmpegPath);
  return { ...figures(source, measured, shows), cpuMs: measured.childrenMs };
}

async function runOurs(source: RaceSource, mode: InputMode, { capturer }: Racers) {
  const request = { url: source.url, mode, clipSeconds: 3, resolveAgain: false, caller: 'bench' };
  const taken: Capture[] = [];
  const measured = await measure(async () => {
    taken.push(await capturer.capture(request, AbortSignal.timeout(60_000)));
  });
  return { measured, capture: taken[0]! };
}

function figures(source: RaceSource, measured: Measured, shows: number) {
  const ageSeconds = computeAge(source, shows, measured);
  const playedSeconds = (measured.startedAtMs - source.startedAtMs) / 1000;
  const sinceEdgeSeconds = source.kind === 'hls' ? playedSeconds % source.segmentSeconds : 0;
  return { wallMs: measured.wallMs, ageSeconds, behindSeconds: ageSeconds - sinceEdgeSeconds };
}

/**
 * Returns the age of a frame. The timecode restarts with each loop, and no frame is older than half of one. Clocks
 * may differ by some milliseconds.
 */
function computeAge(source: RaceSource, shows: number, { endedAtMs }: Measured): number {
  const playedSeconds = (endedAtMs - source.startedAtMs) / 1000;
  const sinceShown = (((playedSeconds - shows) % loopSeconds) + loopSeconds) % loopSeconds;
  return sinceShown > loopSeconds / 2 ? sinceShown - loopSeconds : sinceShown;
}

function toResult(samples: Sample[]): Result {
  return {
    wallMs: quantile(
      samples.map(({ wallMs }) => wallMs),
      0.5,
    ),
    cpuMs: mean(samples.map(({ cpuMs }) => cpuMs)),
    worstBehindSeconds: Math.max(...samples.map(({ behindSeconds }) => behindSeconds)),
  };
}

/** Wall and processor time of a run, in milliseconds. */
type Measured = {
  wallMs: number;
  nodeMs: number;
  childrenMs: number;
  startedAtMs: number;
  endedAtMs: number;
};

/** Time to settle, in milliseconds: a process that ends and the next one that starts belong to the run. */
const settleMs = 250;

/** Measures the wall time of some work, and the processor time of this process and of its children. */
export async function measure(work: () => Promise<unknown>): Promise<Measured> {
  const before = readProcessorTimes();
  const startedAtMs = Date.now();
  const from = performance.now();
  await work();
  const wallMs = performance.now() - from;
  const endedAtMs = Date.now();
  await sleep(settleMs);
  const after = readProcessorTimes();
  return {
    wallMs,
    nodeMs: after.ownMs - before.ownMs,
    childrenMs: after.childrenMs - before.childrenMs,
    startedAtMs,
    endedAtMs,
  };
}

/** Stream of a race. */
type BareSource = { url: string; kind: 'hls' | 'rtsp'; segmentSeconds: number };

const clipSeconds = 3;

/** Runs bare ffmpeg once, with every flag that helps: what a developer would write without Watchpost. */
async function bareFfmpeg(
  ffmpegPath: string,
  source: BareSource,
  mode: InputMode,
  files: { frame: string; clip: string },
): Promise<void> {
  const args = [...inputArguments(source, mode), ...outputArguments(mode, files)];
  await runFfmpeg(ffmpegPath, args);
}

function inputArguments({ url, kind, segmentSeconds }: BareSource, mode: InputMode): string[] {
  const transport = kind === 'rtsp' ? '-rtsp_transport tcp' : '';
  // The best of a dozen combinations on these streams. `-skip_frame nokey` is not among them: with B-frames, ffmpeg
  // then waits for two more key frames.
  const decoding = mode === 'frames' ? '-threads 1 -flags low_delay' : '-skip_frame noref';
  const probing =
    kind === 'rtsp'
      ? '-probesize 32k -analyzeduration 1000000 -fpsprobesize 0'
      : '-probesize 150k -analyzeduration 100000 -fpsprobesize 0';
  const segments = mode === 'frames' ? 1 : Math.ceil(clipSeconds / segmentSeconds);
  const protocol =
    kind === 'rtsp' ? `${transport} -allowed_media_types video` : `-live_start_index -${segments}`;
  return words(`${decoding} ${probing} ${protocol} -i ${url}`);
}

function outputArguments(mode: InputMode, { frame, clip }: { frame: string; clip: string }): string[] {
  const jpeg = '-q:v 3 -update 1 -y';
  // The encoder settings of a capture. A slower preset would slow down bare ffmpeg.
  const film =
    '-an -c:v libx264 -preset ultrafast -crf 28 -x264-params cabac=1:deblock=0,0 -movflags +faststart -y';
  const trimmed = `setpts=PTS-STARTPTS,trim=duration=${clipSeconds}`;
  if (mode === 'frames') return [...words(`-frames:v 1 -vf scale=896:-2 ${jpeg}`), frame];
  // `-t` would count from before the first key frame, and with two outputs wait for a stale stream.
  if (mode === 'clip') return [...words(`-vf ${trimmed},fps=5,scale=672:-2 ${film}`), clip];
  const graph = `[0:v]${trimmed},split=2[a][b];[a]trim=end_frame=1,scale=896:-2[f];[b]fps=5,scale=672:-2[c]`;
  return [...words(`-filter_complex ${graph} -map [f] ${jpeg}`), frame, ...words(`-map [c] ${film}`), clip];
}

/**
 * Timecode: the number of each frame as eleven black or white boxes along the top, which survive scaling and
 * compression.
 */

/** Frame rate of the loop. */
export const framesPerSecond = 30;
/** Length of the loop after which the number restarts, in seconds. */
export const loopSeconds = 60;

const bits = 11;
const boxShare = 1 / 16;
/**
 * Size for reading. Both sizes are 16:9, and a box has 4 × 3.6 px. Larger pictures would fill the memory of this process, and the garbage collector
 * would run during the captures that are measured.
 */
const readSize = { width: 64, height: 36 };

/** Filter that draws the timecode into a 16:9 video. */
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
  const decoder = createImageDecoder({ ffmpegPath });
  return readSeconds(await decoder.decode(jpeg, readSize, AbortSignal.timeout(20_000)));
}

/** Reads the timecode of a clip's last frame. */
async function readLastTimecode(mp4: Uint8Array, ffmpegPath: string): Promise<number> {
  const decoder = createImageDecoder({ ffmpegPath });
  const pictures = await decoder.decodeClip(mp4, readSize, 8, AbortSignal.timeout(20_000));
  return readSeconds(pictures.at(-1)!);
}

function readSeconds(rgb: Uint8Array): number {
  const row = Math.round(readSize.height / 20);
  let frame = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const column = Math.round((bit + 0.5) * boxShare * readSize.width);
    if (rgb[(row * readSize.width + column) * 3]! > 128) frame += 2 ** bit;
  }
  return frame / framesPerSecond;
}
