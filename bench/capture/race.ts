import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compareMotion } from '../../adapters/media/motion/compare-motion.ts';
import type { Capture, InputMode } from '../../core/capture.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import { bareFfmpeg, type BareFlags, type BareSource } from './bare-ffmpeg.ts';
import { mean, measure, median, type Measured } from './measure.ts';
import { loopSeconds, readLastTimecode, readTimecode } from './timecode.ts';

export type RaceSource = BareSource & { name: string; startedAtMs: number };

export type Racers = {
  capturer: StreamCapturer;
  takeNetworkMs: () => number;
  ffmpegPath: string;
  directory: string;
};

type Contender = 'watchpost' | BareFlags;

/** Of one contender: medians in ms, but processor time as the mean. */
export type Result = {
  wallMs: number;
  cpuMs: number;
  /** From the moment that the picture shows to its delivery: median and worst, in seconds. */
  ageSeconds: number;
  worstAgeSeconds: number;
  /** The same without the time that the newest segment had already been out when the capture began. */
  worstBehindSeconds: number;
  /** Of ours: wall time less the time in which an answer of the server was awaited. */
  overheadMs: number;
};

const groupOfPicturesMs = 2000;

/** In turn, so that whatever else the machine does slows all of them alike; the first of ours is not counted: it begins cold. */
export async function race(source: RaceSource, mode: InputMode, rounds: number, racers: Racers) {
  const samples: Record<Contender, Sample[]> = { watchpost: [], default: [], best: [] };
  await runOurs(source, mode, racers);
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of turn(round)) {
      if (source.kind === 'rtsp') await samePlaceInGroup(source, round);
      samples[contender].push(await sampleOf(contender, source, mode, racers));
    }
  }
  return {
    watchpost: resultOf(samples.watchpost),
    default: resultOf(samples.default),
    best: resultOf(samples.best),
  };
}

function turn(round: number): Contender[] {
  const contenders: Contender[] = ['watchpost', 'best', 'default'];
  return [...contenders.slice(round % 3), ...contenders.slice(0, round % 3)];
}

/** With RTSP the wait for the next key frame rules, so all contenders of a round join at the same place. */
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

async function sampleOf(
  contender: Contender,
  source: RaceSource,
  mode: InputMode,
  racers: Racers,
): Promise<Sample> {
  if (contender === 'watchpost') {
    const { measured, capture, motionMs } = await runOurs(source, mode, racers);
    const shows = await readTimecode(capture.frame, racers.ffmpegPath);
    // ffmpeg waits for a camera's key frame inside: what is left of a capture after it is the picture's age.
    const overheadMs =
      source.kind === 'rtsp'
        ? ageOf(source, shows, measured) * 1000 + motionMs
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
  const request = { url: source.url, mode, clipSeconds: 3, resolveAgain: false };
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
  const ageSeconds = ageOf(source, shows, measured);
  const playedSeconds = (measured.startedAtMs - source.startedAtMs) / 1000;
  const sinceEdgeSeconds = source.kind === 'hls' ? playedSeconds % source.segmentSeconds : 0;
  return { wallMs: measured.wallMs, ageSeconds, behindSeconds: ageSeconds - sinceEdgeSeconds };
}

/** The burned-in time begins anew with each loop; no picture is as old as half of one. Clocks may differ by some milliseconds. */
function ageOf(source: RaceSource, shows: number, { endedAtMs }: Measured): number {
  const playedSeconds = (endedAtMs - source.startedAtMs) / 1000;
  const sinceShown = (((playedSeconds - shows) % loopSeconds) + loopSeconds) % loopSeconds;
  return sinceShown > loopSeconds / 2 ? sinceShown - loopSeconds : sinceShown;
}

function resultOf(samples: Sample[]): Result {
  return {
    wallMs: median(samples.map(({ wallMs }) => wallMs)),
    cpuMs: mean(samples.map(({ cpuMs }) => cpuMs)),
    ageSeconds: median(samples.map(({ ageSeconds }) => ageSeconds)),
    worstAgeSeconds: Math.max(...samples.map(({ ageSeconds }) => ageSeconds)),
    worstBehindSeconds: Math.max(...samples.map(({ behindSeconds }) => behindSeconds)),
    overheadMs: median(samples.map(({ overheadMs }) => overheadMs)),
  };
}
