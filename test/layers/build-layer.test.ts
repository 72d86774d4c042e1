import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildLayer } from '../../layers/ffmpeg/build-layer.ts';
import { folderOfTest } from '../support/temporary-folder.ts';

/** Server in place of the release page: serves `files` by the last part of the path. */
let files: Record<string, Buffer | string> = {};
const server = createServer((request, response) => {
  const found = files[request.url!.replace('/b6.1.1/', '')];
  if (found === undefined) response.writeHead(404).end();
  else response.end(found);
});
let needs: { outDir: string; checksumsFile: string; confirmed: string[]; env: NodeJS.ProcessEnv };
const sum = createHash('sha256').update(program(0xb7)).digest('hex');

beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));
afterAll(() => new Promise((closed) => server.close(closed)));
beforeEach(async () => {
  const folder = folderOfTest();
  const checksumsFile = join(folder, 'checksums.json');
  await writeFile(checksumsFile, '{}');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  needs = {
    outDir: join(folder, 'dist'),
    checksumsFile,
    confirmed: [sum],
    env: { FFMPEG_BINARIES_URL: url },
  };
  files = {
    'ffmpeg-linux-arm64.gz': gzipSync(program(0xb7)),
    'ffmpeg-linux-arm64.LICENSE': 'GPL',
    'ffmpeg-linux-arm64.README': 'version: 6.1.1',
  };
});

test('a layer has the binary where functions find it, with its license and origin', async () => {
  const { folder, sha256 } = await buildLayer('arm64', needs);
  expect(await readdir(folder, { recursive: true })).toEqual(
    expect.arrayContaining(['bin/ffmpeg', 'share/ffmpeg/LICENSE', 'share/ffmpeg/README']),
  );
  expect((await stat(join(folder, 'bin/ffmpeg'))).mode & 0o111).toBe(0o111);
  expect(await readFile(join(folder, 'bin/ffmpeg'))).toEqual(program(0xb7));
  expect(JSON.parse(await readFile(join(folder, 'share/ffmpeg/origin.json'), 'utf8'))).toMatchObject({
    release: 'b6.1.1',
    architecture: 'arm64',
    sha256,
    license: 'GPL-3.0-or-later',
  });
});

test('a binary whose checksum is neither recorded nor confirmed is rejected, with the command that confirms it', async () => {
  const unconfirmed = { ...needs, confirmed: [] };
  await expect(buildLayer('arm64', unconfirmed)).rejects.toThrow(`npm run layer -- arm64 --confirm ${sum}`);
  await expect(readdir(needs.outDir)).rejects.toThrow('ENOENT');
});

test('a build records the confirmed checksum, and the next one accepts it', async () => {
  expect(await buildLayer('arm64', needs)).toMatchObject({ isNew: true });
  expect(await buildLayer('arm64', { ...needs, confirmed: [] })).toMatchObject({ isNew: false });
});

test('a changed binary is rejected, and the layer stays unchanged', async () => {
  const { folder } = await buildLayer('arm64', needs);
  files['ffmpeg-linux-arm64.gz'] = gzipSync(Buffer.concat([program(0xb7), Buffer.from('more')]));
  await expect(buildLayer('arm64', needs)).rejects.toThrow('has changed');
  expect(await readFile(join(folder, 'bin/ffmpeg'))).toEqual(program(0xb7));
});

test('a binary for another architecture is rejected', async () => {
  files['ffmpeg-linux-arm64.gz'] = gzipSync(program(0x3e));
  await expect(buildLayer('arm64', needs)).rejects.toThrow('is not a Linux program for arm64');
});

test('a page in place of the binary is rejected', async () => {
  files['ffmpeg-linux-arm64.gz'] = gzipSync('<html>');
  await expect(buildLayer('arm64', needs)).rejects.toThrow('is not a Linux program for arm64');
});

test('a missing license stops the build', async () => {
  delete files['ffmpeg-linux-arm64.LICENSE'];
  await expect(buildLayer('arm64', needs)).rejects.toThrow(
    'ffmpeg-linux-arm64.LICENSE could not be downloaded',
  );
});

/** Returns the beginning of an ELF file for a machine. */
function program(machine: number): Buffer {
  const header = Buffer.alloc(64);
  header.write('\x7fELF', 'latin1');
  header.writeUInt16LE(machine, 18);
  return header;
}
