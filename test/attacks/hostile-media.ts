import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ffmpegPath } from '../support/hls/recording.ts';

const source = '-f lavfi -i testsrc2=size=160x90:rate=5:duration=2';

/** MJPEG whose image headers announce a hundred megapixels. */
export async function movieOfManyPixels(): Promise<Buffer> {
  const movie = await made(`${source} -c:v mjpeg -f mov`, 'small.mov');
  for (let at = movie.indexOf(startOfFrame); at >= 0; at = movie.indexOf(startOfFrame, at + 1)) {
    movie.writeUInt16BE(10_000, at + 5);
    movie.writeUInt16BE(10_000, at + 7);
  }
  return movie;
}

const startOfFrame = Buffer.from([0xff, 0xc0, 0x00, 0x11]);

/** H.264 with frames of 12.7 megapixels. */
export async function streamOfManyPixels(): Promise<Buffer> {
  const large = '-f lavfi -i color=size=4112x3088:rate=1:duration=1';
  return made(`${large} -c:v libx264 -preset ultrafast -f mpegts`, 'large.ts');
}

/** Movie with one track repeated ten thousand times. */
export async function movieOfManyTracks(): Promise<Buffer> {
  const movie = await made(`${source} -c:v libx264 -f mov`, 'one.mov');
  const at = movie.indexOf('trak') - 4;
  const track = movie.subarray(at, at + movie.readUInt32BE(at));
  const movieAt = movie.indexOf('moov') - 4;
  const grown = Buffer.concat([
    movie.subarray(0, at),
    ...Array<Buffer>(10_000).fill(track),
    movie.subarray(at + track.length),
  ]);
  grown.writeUInt32BE(movie.readUInt32BE(movieAt) + 9_999 * track.length, movieAt);
  return grown;
}

/** Two seconds, followed by two with timestamps of a day later. */
export async function streamThatJumps(): Promise<Buffer> {
  const encode = (offset: number): string =>
    `${source} -c:v libx264 -g 5 -output_ts_offset ${offset} -f mpegts`;
  return Buffer.concat([await made(encode(0), 'now.ts'), await made(encode(86_000), 'later.ts')]);
}

async function made(commandLine: string, name: string): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'media-'));
  try {
    const to = join(directory, name);
    await promisify(execFile)(ffmpegPath, ['-nostdin', '-loglevel', 'error', ...commandLine.split(' '), to]);
    return await readFile(to);
  } finally {
    await rm(directory, { recursive: true });
  }
}
