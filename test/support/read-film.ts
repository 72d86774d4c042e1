import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thumbnail } from '../../core/records/capture.ts';
import { folderOfTest } from './temporary-folder.ts';
import { ffmpegPath, readMoment } from './hls/recording.ts';

/**
 * Returns the times of a recording that the frames of a film of it show, in seconds. Fails for one with damage or with
 * sound.
 */
export async function readFilm(film: Uint8Array): Promise<number[]> {
  const file = join(folderOfTest(), 'film.mp4');
  await writeFile(file, film);
  const size = `scale=${thumbnail.width}:${thumbnail.height}`;
  const args = `-v error -xerror -i ${file} -map 0 -vf ${size},format=yuv420p -f rawvideo pipe:1`.split(' ');
  const options = { encoding: 'buffer', maxBuffer: 200_000_000 } as const;
  const { stdout } = await promisify(execFile)(ffmpegPath, args, options);
  const frames = Array.from({ length: stdout.length / thumbnail.bytes }, (_, index) =>
    stdout.subarray(index * thumbnail.bytes, (index + 1) * thumbnail.bytes),
  );
  return frames.map(readMoment);
}
