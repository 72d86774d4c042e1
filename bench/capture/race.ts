import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Capture, InputMode } from '../../core/records/capture.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import { mean, quantile } from '../harness.ts';
import { bareFfmpeg, type BareSource } from './bare-ffmpeg.ts';
import { measure, type Measured } from './measure.ts';
import { loopSeconds, readLastTimecode, readTimecode } from './timecode.ts';

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
