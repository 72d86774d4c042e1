import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listRecordings } from '../../../adapters/recordings/list-recordings.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recordings-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

async function add(path: string, text = ''): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

test('a folder lists its videos by number, without other files', async () => {
  for (const name of ['part10.ts', 'part2.ts', 'notes.txt', 'old/part1.ts']) await add(name);
  const files = await listRecordings([folder]);
  expect(files.map((file) => file.slice(folder.length + 1))).toEqual([
    'old/part1.ts',
    'part2.ts',
    'part10.ts',
  ]);
});

test('a playlist lists its segments, relative to itself', async () => {
  const playlist = await add(
    'vod.m3u8',
    '#EXTM3U\n#EXTINF:2,\na%20b.ts\n#EXTINF:2,\nsub/c.ts\n#EXT-X-ENDLIST\n',
  );
  expect(await listRecordings([playlist])).toEqual([join(folder, 'a b.ts'), join(folder, 'sub/c.ts')]);
});

test('a playlist with initialization segments or keys is left to ffmpeg', async () => {
  const playlist = await add('vod.m3u8', '#EXTM3U\n#EXT-X-MAP:URI="init.mp4"\n#EXTINF:2,\na.m4s\n');
  expect(await listRecordings([playlist])).toEqual([playlist]);
});

test('recordings of several cameras require the name of one', async () => {
  const yard = await add('2026-11-20/14/yard/00.00.mp4');
  await add('2026-11-20/14/door/00.00.mp4');
  await expect(listRecordings([folder])).rejects.toThrow(/2 cameras \(.*\)\. Select one with --camera NAME/);
  await expect(listRecordings([folder], 'cellar')).rejects.toThrow(/no camera cellar/);
  expect(await listRecordings([folder], 'yard')).toEqual([yard]);
});

test.each([
  ['missing.mp4', /does not exist/],
  ['empty', /contains no video files/],
  ['remote.m3u8', /Download them first/],
  ['none.m3u8', /lists no segments/],
  ['other.m3u8', /is not an HLS playlist/],
])('%s is refused with the reason', async (name, reason) => {
  await mkdir(join(folder, 'empty'));
  await add('remote.m3u8', '#EXTM3U\n#EXTINF:2,\nhttps://camera.example/a.ts\n');
  await add('none.m3u8', '#EXTM3U\n');
  await add('other.m3u8', 'hello');
  await expect(listRecordings([join(folder, name)])).rejects.toThrow(reason);
});
