import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ffmpegPath } from '../support/hls/recording.ts';

/** MOV files whose samples are in another file (QuickTime data references). */
export async function externalMovies(segment: Buffer, file: string): Promise<Record<string, Buffer>> {
  const movie = withoutPictures(await createMovie(segment));
  const references = {
    'a MOV with an alias of a file': reference('alis', createAlias(file)),
    'a MOV with a URL of a file': reference('url ', Buffer.from(`file://${file}\0`)),
    'a MOV with a URL of the inside': reference('url ', Buffer.from('http://127.0.0.1:9001/\0')),
    'a MOV with a URN': reference('urn ', Buffer.from(`x\0file://${file}\0`)),
  };
  return Object.fromEntries(
    Object.entries(references).map(([name, entry]) => [name, withReference(movie, entry)]),
  );
}

async function createMovie(segment: Buffer): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'movie-'));
  try {
    const [from, to] = [join(directory, 'in.ts'), join(directory, 'out.mov')];
    await writeFile(from, segment);
    await promisify(execFile)(ffmpegPath, ['-loglevel', 'error', '-i', from, '-c', 'copy', '-f', 'mov', to]);
    return await readFile(to);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Removes the samples, so that a frame can only come from the other file. */
function withoutPictures(movie: Buffer): Buffer {
  const [start, size] = [movie.indexOf('mdat') + 4, movie.readUInt32BE(movie.indexOf('mdat') - 4) - 8];
  return Buffer.from(movie).fill(0, start, start + size);
}

/** In place of the reference to itself. The index is at the end of the file, so that no offset of a sample moves. */
function withReference(movie: Buffer, entry: Buffer): Buffer {
  const path = ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref'];
  return rewrite(movie, path, () => Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), entry]));
}

function rewrite(boxes: Buffer, [type, ...inner]: string[], change: () => Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= boxes.length;) {
    const size = boxes.readUInt32BE(at) || boxes.length - at;
    const whole = boxes.subarray(at, at + size);
    const isMeant = whole.toString('latin1', 4, 8) === type;
    const content = whole.subarray(8);
    const changed = inner.length === 0 ? change() : rewriteInner(content, inner, change);
    parts.push(isMeant ? box(type ?? '', changed) : whole);
    at += size;
  }
  return Buffer.concat(parts);
}

function rewriteInner(content: Buffer, inner: string[], change: () => Buffer): Buffer {
  return content.length < 8 ? content : rewrite(content, inner, change);
}

function reference(type: string, content: Buffer): Buffer {
  return box(type, Buffer.concat([Buffer.alloc(4), content]));
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/** The fields of an alias record that ffmpeg reads: volume, name, levels, and the absolute path (type 2). */
function createAlias(file: string): Buffer {
  const levels = Buffer.from([0, 1, 0, 1]);
  const path = Buffer.from(file.length % 2 === 0 ? file : `/${file}`);
  const head = Buffer.from([0, 2, path.length >> 8, path.length & 0xff]);
  const end = Buffer.from([0xff, 0xff, 0, 0]);
  return Buffer.concat([Buffer.alloc(10 + 28 + 12 + 64 + 16), levels, Buffer.alloc(16), head, path, end]);
}
