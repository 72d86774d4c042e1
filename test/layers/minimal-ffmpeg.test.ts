import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ffmpegPath } from '../support/hls/recording.ts';

/** Source of all arguments of ffmpeg that a service passes. */
const source = globSync('adapters/media/**/*.ts')
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
const script = readFileSync('layers/ffmpeg/build-minimal.sh', 'utf8');

function enabled(kind: string): string[] {
  return new RegExp(`--enable-${kind}=(\\S+)`).exec(script)?.[1]?.split(',') ?? [];
}

test('the minimal ffmpeg has each filter of a capture, of regions and of clips', () => {
  const listed = execFileSync(ffmpegPath, ['-hide_banner', '-filters'], { encoding: 'utf8' });
  const known = [...listed.matchAll(/^ [T.][S.][C.]? (\w+) /gm)].map(([, name = '']) => name);
  const used = known.filter((name) => new RegExp(`[\\]},\`' ]${name}=[^=>\\s]`).test(source));
  expect(used).toEqual(expect.arrayContaining(['scale', 'setsar', 'settb', 'drawbox', 'select']));
  expect(used.filter((name) => !enabled('filter').includes(name))).toEqual([]);
});

test('the minimal ffmpeg has each format that a service reads or writes', () => {
  const used = new Set([...source.matchAll(/-f(?:', '| )(\w+)/g)].map(([, name = '']) => name));
  expect([...used]).toEqual(expect.arrayContaining(['h264', 'rawvideo', 'mkvtimestamp_v2', 'mp4']));
  const formats = [...enabled('demuxer'), ...enabled('muxer')];
  expect([...used].filter((name) => !formats.includes(name))).toEqual([]);
});
