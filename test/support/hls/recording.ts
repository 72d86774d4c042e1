import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { locateFfmpeg } from '../../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { thumbnail } from '../../../core/capture.ts';

/**
 * Segments made once at full speed, whose brightness tells the time: luma is 30 + 12 a second.
 * A test that sees a picture knows which moment of the stream it shows.
 */
export type Recording = { segmentSeconds: number; segments: Buffer[]; initialization: Buffer | null };

export const { path: ffmpegPath } = await locateFfmpeg({
  setting: process.env['WATCHPOST_FFMPEG'],
  env: process.env,
});

export async function record(
  options: {
    segmentType?: 'mpegts' | 'fmp4';
    keyFrameSeconds?: number;
    size?: string;
    seconds?: number;
  } = {},
): Promise<Recording> {
  const { segmentType = 'mpegts', keyFrameSeconds = 2, size = '160x90', seconds = 16 } = options;
  const directory = await mkdtemp(join(tmpdir(), 'recording-'));
  const suffix = segmentType === 'fmp4' ? 'm4s' : 'ts';
  const scene = `nullsrc=size=160x90:rate=10,format=yuv420p,geq=lum='30+12*T':cb=128:cr=128,scale=${size.replace('x', ':')}`;
  const encoding = `-c:v libx264 -preset ultrafast -bf 2 -g ${keyFrameSeconds * 10} -keyint_min ${keyFrameSeconds * 10} -sc_threshold 0 -qp 12`;
  const hls = `-f hls -hls_time 2 -hls_list_size 0 -hls_segment_type ${segmentType} -hls_fmp4_init_filename init.mp4 -hls_flags split_by_time`;
  try {
    const input = ['-nostdin', '-loglevel', 'error', '-f', 'lavfi', '-i', scene, '-t', `${seconds}`];
    const output = [...encoding.split(' '), ...hls.split(' '), '-hls_segment_filename'];
    const paths = [join(directory, `%03d.${suffix}`), join(directory, 'list.m3u8')];
    await promisify(execFile)(ffmpegPath, [...input, ...output, ...paths]);
    const names = (await readdir(directory)).filter((name) => name.endsWith(suffix)).toSorted();
    return {
      segmentSeconds: 2,
      segments: await Promise.all(names.map((name) => readFile(join(directory, name)))),
      initialization: segmentType === 'fmp4' ? await readFile(join(directory, 'init.mp4')) : null,
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The moment of a `record`ing that a thumbnail shows, in seconds. */
export function momentOf(picture: Uint8Array): number {
  const luma = picture.subarray(0, thumbnail.width * thumbnail.height);
  return (luma.reduce((sum, level) => sum + level, 0) / luma.length - 30) / 12;
}
