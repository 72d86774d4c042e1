import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { startProcess } from './harness.ts';

const partSchema = z.object({ fromSeconds: z.number(), seconds: z.number(), beginsAtSeconds: z.number() });
/** Part of a recording that a stream repeats, and where in it the stream begins. Multiples of the time between key frames. */
export type Part = z.infer<typeof partSchema>;

const renditionSchema = z.object({ height: z.number(), file: z.string() });
const streamSchema = z.object({
  name: z.string(),
  /** Recordings of the same frames. RTSP plays the first one. */
  renditions: z.tuple([renditionSchema], renditionSchema),
  framesPerSecond: z.number(),
  /** Segments of HLS; 0 for RTSP. */
  segmentSeconds: z.number(),
  /** Default: all of the recording. */
  part: partSchema.optional(),
});
export type LiveStream = z.infer<typeof streamSchema>;

export const streamsSchema = z.object({
  ffmpegPath: z.string(),
  /** Time for which the streams have played when they begin. */
  ageSeconds: z.number(),
  /** Delay of each response of HLS. */
  delayMs: z.number(),
  streams: z.array(streamSchema),
});

const startSchema = z.object({ startedAtMs: z.number(), urls: z.record(z.string(), z.string()) });

/** Plays recordings as live streams from another process (`streams-process.ts`). */
export async function startStreams(config: z.infer<typeof streamsSchema>) {
  const streaming = await startProcess('streams-process.ts');
  const { startedAtMs, urls } = startSchema.parse(JSON.parse(await streaming.ask(JSON.stringify(config))));
  return {
    /** Time of the first frame of the recordings. */
    startedAtMs,
    /** Returns the address of a stream; of HLS that of the playlist of its first rendition, beside which `master.m3u8` is. */
    url: (name: string): string => urls[name] ?? '',
    /** Returns the bytes that each HLS stream has sent. */
    readBytes: async () => z.record(z.string(), z.number()).parse(JSON.parse(await streaming.ask('bytes'))),
    [Symbol.asyncDispose]: () => streaming[Symbol.asyncDispose](),
  };
}

/** Runs ffmpeg to its end. */
export async function runFfmpeg(ffmpegPath: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(ffmpegPath, ['-nostdin', '-loglevel', 'error', ...args], { timeout: 1_800_000 });
}

/** Splits a line of arguments. */
export function words(line: string): string[] {
  return line.split(' ').filter((word) => word !== '');
}
