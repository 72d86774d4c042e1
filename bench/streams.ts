import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startProcess } from './harness.ts';

/**
 * Part of a recording that a stream repeats, and where in it the stream begins. Multiples of the time between key
 * frames.
 */
export type Part = { fromSeconds: number; seconds: number; beginsAtSeconds: number };

type Rendition = { height: number; file: string };
export type LiveStream = {
  name: string;
  /** Recordings of the same frames. RTSP plays the first one. */
  renditions: [Rendition, ...Rendition[]];
  framesPerSecond: number;
  /** Segments of HLS; 0 for RTSP. */
  segmentSeconds: number;
  /** Time that the playlist of HLS lists. Default: six segments. */
  windowSeconds?: number;
  /** Default: all of the recording. */
  part?: Part;
};

export type StreamsConfig = {
  ffmpegPath: string;
  /** Time for which the streams have played when they begin. */
  ageSeconds: number;
  /** Delay of each response of HLS. Default: none. */
  delayMs?: number;
  streams: LiveStream[];
};

/**
 * Plays recordings as live streams from another process (`streams-process.ts`). Returns the time of the first frame of
 * the recordings, and the address of each stream; of HLS that of the playlist of its first rendition, beside which
 * `master.m3u8` is.
 */
export async function startStreams(config: StreamsConfig) {
  const streaming = await startProcess('streams-process.ts');
  const { startedAtMs, urls } = await streaming.ask<{ startedAtMs: number; urls: Record<string, string> }>(
    config,
  );
  return {
    startedAtMs,
    url: (name: string): string => urls[name] ?? '',
    [Symbol.asyncDispose]: () => streaming[Symbol.asyncDispose](),
  };
}

/** Runs ffmpeg to its end. */
export async function runFfmpeg(ffmpegPath: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(ffmpegPath, ['-nostdin', '-loglevel', 'error', ...args], { timeout: 1_800_000 });
}

/** Returns what ffmpeg writes to its output. */
export async function collectOutput(ffmpegPath: string, args: readonly string[]): Promise<Buffer> {
  const options = { encoding: 'buffer', maxBuffer: 1e9, timeout: 60_000 } as const;
  const all = ['-nostdin', '-loglevel', 'quiet', ...args];
  return (await promisify(execFile)(ffmpegPath, all, options)).stdout;
}

/** Splits a line of arguments. */
export function words(line: string): string[] {
  return line.split(' ').filter((word) => word !== '');
}
