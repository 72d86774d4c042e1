import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compareMotion } from '../../adapters/media/motion/compare-motion.ts';
import type { Capture, InputMode } from '../../core/records/capture.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import { bareFfmpeg, type BareFlags, type BareSource } from './bare-ffmpeg.ts';
import { mean, measure, median, type Measured } from './measure.ts';
import { loopSeconds, readLastTimecode, readTimecode } from './timecode.ts';

/** Stream of a race, with its name and the time of its first frame. */
export type RaceSource = BareSource & { name: string; startedAtMs: number };

/** Contenders of a race. */
export type Racers = {
  capturer: StreamCapturer;
  takeNetworkMs: () => number;
  ffmpegPath: string;
  directory: string;
};

type Contender = 'watchpost' | BareFlags;

/** Result of one contender: medians in milliseconds, processor time as a mean. */
export type Result = {
  wallMs: number;
  cpuMs: number;
  /** Time from the moment that the frame shows to its delivery: median, in seconds. */
  ageSeconds: number;
  worstAgeSeconds: number;
  /**
   * Worst age without the time that the newest segment was already available at the start of the capture, in
   * seconds.
   */
  worstBehindSeconds: number;
  /** Overhead of Watchpost: wall time minus the time of pending responses. */
  overheadMs: number;
};

const groupOfPicturesMs = 2000;
const warmUpRuns = 5;

/**
 * Runs all contenders in turn, so that other load slows all of them equally. The first runs of Watchpost are not
 * counted: a service captures for hours, with compiled code and open connections.
 */
export async function race(source: RaceSource, mode: InputMode, rounds: number, racers: Racers) {
  const samples: Record<Contender, Sample[]> = { watchpost: [], default: [], best: [] };
  for (let run = 0; run < warmUpRuns; run += 1) await runOurs(source, mode, racers);
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of turn(round)) {
      if (source.kind === 'rtsp') await samePlaceInGroup(source, round);
      samples[contender].push(await takeSample(contender, source, mode, racers));
    }
  }
  return {
    watchpost: toResult(samples.watchpost),
    default: toResult(samples.default),
    best: toResult(samples.best),
  };
}

function turn(round: number): Contender[] {
  const contenders: Contender[] = ['watchpost', 'best', 'default'];
  return [...contenders.slice(round % 3), ...contenders.slice(0, round % 3)];
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
  overheadMs: number;
};

async function takeSample(
  contender: Contender,
  source: RaceSource,
  mode: InputMode,
  racers: Racers,
): Promise<Sample> {
  if (contender === 'watchpost') {
    const { measured, capture, motionMs } = await runOurs(source, mode, racers);
    const shows = await readTimecode(capture.frame, racers.ffmpegPath);
    // ffmpeg waits for a camera's key frame internally. The rest of a capture after that is the age of the frame.
    const overheadMs =
      source.kind === 'rtsp'
        ? computeAge(source, shows, measured) * 1000 + motionMs
        : measured.wallMs - racers.takeNetworkMs() + motionMs;
    return { ...figures(source, measured, shows), cpuMs: measured.nodeMs + measured.childrenMs, overheadMs };
  }
  const files = { frame: join(racers.directory, 'frame.jpg'), clip: join(racers.directory, 'clip.mp4') };
  const measured = await measure(() => bareFfmpeg(racers.ffmpegPath, source, mode, contender, files));
  const shows =
    mode === 'frames'
      ? await readTimecode(await readFile(files.frame), racers.ffmpegPath)
      : await readLastTimecode(await readFile(files.clip), racers.ffmpegPath);
  return { ...figures(source, measured, shows), cpuMs: measured.childrenMs, overheadMs: 0 };
}

async function runOurs(source: RaceSource, mode: InputMode, { capturer, takeNetworkMs }: Racers) {
  const request = { url: source.url, mode, clipSeconds: 3, resolveAgain: false, caller: 'bench' };
  takeNetworkMs();
  const taken: Capture[] = [];
  const measured = await measure(async () => {
    taken.push(await capturer.capture(request, AbortSignal.timeout(60_000)));
  });
  const capture = taken[0]!;
  const from = performance.now();
  compareMotion(capture.thumbnail, null);
  return { measured, capture, motionMs: performance.now() - from };
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
    wallMs: median(samples.map(({ wallMs }) => wallMs)),
    cpuMs: mean(samples.map(({ cpuMs }) => cpuMs)),
    ageSeconds: median(samples.map(({ ageSeconds }) => ageSeconds)),
    worstAgeSeconds: Math.max(...samples.map(({ ageSeconds }) => ageSeconds)),
    worstBehindSeconds: Math.max(...samples.map(({ behindSeconds }) => behindSeconds)),
    overheadMs: median(samples.map(({ overheadMs }) => overheadMs)),
  };
}
