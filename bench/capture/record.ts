import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { burnInTimecode, framesPerSecond, loopSeconds } from './timecode.ts';

/** Duration of the recordings, in seconds. A race takes less. */
const recordedSeconds = 300;

/**
 * Records 720p30 H.264 at 3 Mb/s with a key frame every 2 s and camera noise, as one file and as HLS segments of
 * several durations.
 */
export async function recordStreams(ffmpegPath: string, directory: string, segmentSeconds: number[]) {
  const file = join(directory, 'loop.mp4');
  const scene = `testsrc2=size=1280x720:rate=${framesPerSecond},noise=alls=8:allf=t,${burnInTimecode}`;
  const encoding = `-t ${loopSeconds} -c:v libx264 -preset ultrafast -b:v 3M -maxrate 3M -bufsize 6M -g ${2 * framesPerSecond} -sc_threshold 0 -bf 2 -pix_fmt yuv420p`;
  await run(ffmpegPath, ['-f', 'lavfi', '-i', scene, ...words(encoding), file]);
  for (const seconds of segmentSeconds) {
    const folder = segmentFolder(directory, seconds);
    await mkdir(folder);
    const output = `-t ${recordedSeconds} -c copy -f hls -hls_time ${seconds} -hls_list_size 0 -hls_segment_filename`;
    await run(ffmpegPath, [
      ...words(`-stream_loop -1 -i ${file} ${output}`),
      join(folder, '%d.ts'),
      join(folder, 'list.m3u8'),
    ]);
  }
  return { file };
}

/** Returns the folder of the segments with this duration. */
export function segmentFolder(directory: string, seconds: number): string {
  return join(directory, `hls-${seconds}`);
}

async function run(ffmpegPath: string, args: string[]): Promise<void> {
  await promisify(execFile)(ffmpegPath, ['-nostdin', '-loglevel', 'error', ...args], { timeout: 900_000 });
}

function words(line: string): string[] {
  return line.split(' ').filter((word) => word !== '');
}
