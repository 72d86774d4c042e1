import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, vi } from 'vitest';
import { locateFfmpeg } from '../../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { thumbnail } from '../../../core/records/capture.ts';
import { sharedFolder } from '../runner/run-folder.ts';

/**
 * Recording whose brightness encodes the time: luma is 30 + 12 per second, so that a test can read the time of a frame.
 * ffmpeg creates it once at full speed.
 */
export type Recording = { segmentSeconds: number; segments: Buffer[]; initialization: Buffer | null };

export type RecordingOptions = {
  segmentType?: 'mpegts' | 'fmp4';
  codec?: 'h264' | 'h265' | 'mpeg2';
  /** Groups that begin without an IDR picture, `headless` also without parameter sets. Of H.264. */
  groups?: 'open' | 'refreshed' | 'headless';
  /** Adds audio before the video, in the track table and in the packets. */
  sound?: boolean;
  keyFrameSeconds?: number;
  /** Default: 2. */
  segmentSeconds?: number;
  size?: string;
  seconds?: number;
};

export const { path: ffmpegPath } = await locateFfmpeg({
  setting: process.env['WATCHPOST_FFMPEG'],
  env: process.env,
});

/** Returns a recording; each kind is created once per test run. */
export async function record(options: RecordingOptions = {}): Promise<Recording> {
  const shared = sharedFolder();
  const name = join(shared, ['recording', ...Object.entries(options).flat()].join('-'));
  const isMade = await read(name, options);
  if (isMade) return isMade;
  await mkdir(shared, { recursive: true });
  const directory = await mkdtemp(`${name}-`);
  try {
    await promisify(execFile)(ffmpegPath, commandLine(options, directory), { cwd: directory });
    const made = await read(directory, options);
    if (made === null) throw new Error('ffmpeg created no segments');
    // If two processes create the same recording, the first one remains.
    await rename(directory, name).catch(() => undefined);
    return made;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function commandLine(options: RecordingOptions, directory: string): string[] {
  const { segmentType = 'mpegts', codec = 'h264', sound = false, keyFrameSeconds = 2, groups } = options;
  const { size = '160x90', seconds = 16, segmentSeconds = 2 } = options;
  // A picture of one level is drawn small.
  const scene = `nullsrc=size=16x16:rate=10,format=yuv420p,geq=lum='30+12*T':cb=128:cr=128,scale=${size.replace('x', ':')}:flags=neighbor,setsar=1`;
  const group = keyFrameSeconds * 10;
  const structure = {
    headless: '-x264-params open-gop=1',
    open: '-bsf:v dump_extra -x264-params open-gop=1',
    refreshed: '-bsf:v dump_extra -bf 0 -x264-params intra-refresh=1',
  };
  const encoders = {
    h264: `-c:v libx264 -preset ultrafast -bf 2 ${groups ? structure[groups] : ''} -g ${group} -keyint_min ${group} -sc_threshold 0 -qp 12`,
    h265: `-c:v libx265 -preset ultrafast -tag:v hvc1 -x265-params log-level=none:keyint=${group}:min-keyint=${group}:scenecut=0:qp=12:open-gop=0`,
    mpeg2: `-c:v mpeg2video -strict experimental -q:v 2 -g ${group} -sc_threshold 1000000000`,
  };
  const tracks = sound ? '-f lavfi -i sine -map 1:a -map 0:v -c:a aac -shortest' : '';
  const hls = `-f hls -hls_time ${segmentSeconds} -hls_list_size 0 -hls_segment_type ${segmentType} -hls_fmp4_init_filename init.mp4 -hls_flags split_by_time`;
  const words = (line: string): string[] => line.split(' ').filter((word) => word !== '');
  return [
    '-nostdin',
    ...words('-loglevel error -f lavfi -i'),
    scene,
    ...words(tracks),
    ...words(encoders[codec]),
    ...words(`-t ${seconds}`),
    ...words(hls),
    '-hls_segment_filename',
    join(directory, `%03d.${fileSuffix(options)}`),
    join(directory, 'list.m3u8'),
  ];
}

function fileSuffix({ segmentType = 'mpegts' }: RecordingOptions): string {
  return segmentType === 'fmp4' ? 'm4s' : 'ts';
}

async function read(directory: string, options: RecordingOptions): Promise<Recording | null> {
  const names = await readdir(directory).catch((): string[] => []);
  const files = names.filter((name) => name.endsWith(fileSuffix(options))).toSorted();
  if (files.length === 0) return null;
  return {
    segmentSeconds: options.segmentSeconds ?? 2,
    segments: await Promise.all(files.map((name) => readFile(join(directory, name)))),
    initialization: names.includes('init.mp4') ? await readFile(join(directory, 'init.mp4')) : null,
  };
}

/** Returns the time of a recording that a thumbnail shows, in seconds. */
export function readMoment(picture: Uint8Array): number {
  const luma = picture.subarray(0, thumbnail.width * thumbnail.height);
  return (luma.reduce((sum, level) => sum + level, 0) / luma.length - 30) / 12;
}

/**
 * Creates the runner of a test file that scans between key frames, and stops the clock of its work. A loaded machine
 * has time there: the bounds of time are those of other tests.
 */
export function openUnhurriedRunner(path = ffmpegPath): FfmpegRunner {
  beforeAll(() => void vi.spyOn(performance, 'now').mockReturnValue(0));
  afterAll(() => vi.restoreAllMocks());
  const runner = createFfmpegRunner({ ffmpegPath: path, tempDir: sharedFolder() });
  return {
    ...runner,
    runEachSecond: async (input, clock, _, signal) =>
      runner.runEachSecond?.(input, clock, { timeoutMs: 25_000 }, signal) ?? null,
  };
}
