import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildLayer } from '../../layers/ffmpeg/build-layer.ts';
import { readLockedVersion } from '../../layers/ffmpeg/packaged-binary.ts';
import { folderOfTest } from '../support/temporary-folder.ts';

/** Server in place of the release page: serves `files` by the last part of the path. */
let files: Record<string, Buffer | string> = {};
const server = createServer((request, response) => {
  const found = files[request.url!.replace('/b6.1.1/', '')];
  if (found === undefined) response.writeHead(404).end();
  else response.end(found);
});
let needs: Parameters<typeof buildLayer>[1];
/** Binary of the wheel, and the arguments with which pip was asked for it. */
let wheel: Buffer | undefined;
let asked: string[] = [];
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
    requirements: join(folder, 'requirements.txt'),
    env: { FFMPEG_BINARIES_URL: url },
    pip: async (args) => {
      asked = [...args];
      if (wheel === undefined)
        throw Object.assign(new Error('exit 1'), { stderr: 'a\nERROR: hashes differ' });
      const binaries = join(args[args.indexOf('--target') + 1]!, 'imageio_ffmpeg/binaries');
      await mkdir(binaries, { recursive: true });
      await writeFile(join(binaries, 'ffmpeg-linux-aarch64-v9.0.2'), wheel);
      return '';
    },
  };
  wheel = program(0xb7);
  asked = [];
  await writeFile(needs.requirements, 'imageio-ffmpeg==0.8.1 \\\n    --hash=sha256:0a\n');
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
    name: 'b6.1.1',
    architecture: 'arm64',
    sha256,
    license: 'GPL-3.0-or-later',
  });
});

test('a layer has the ffmpeg of the locked wheel if no checksum of ffmpeg-static is recorded', async () => {
  const { name, isNew } = await buildLayer('arm64', { ...needs, confirmed: [] });
  expect([name, isNew]).toEqual(['imageio-ffmpeg 0.8.1', true]);
  expect(asked).toEqual(expect.arrayContaining(['--require-hashes', 'manylinux_2_28_aarch64']));
  expect(asked.at(-1)).toBe(needs.requirements);
});

test('a layer with a known checksum is not fetched again, and one of an earlier wheel is', async () => {
  const fetching = { ...needs, confirmed: [] };
  await buildLayer('arm64', fetching);
  asked = [];
  expect(await buildLayer('arm64', fetching)).toMatchObject({ isNew: false, sha256: sum });
  expect(asked).toEqual([]);
  await writeFile(needs.requirements, 'imageio-ffmpeg==0.8.2');
  expect(await buildLayer('arm64', fetching)).toMatchObject({ name: 'imageio-ffmpeg 0.8.2', isNew: true });
});

test('a wheel that pip rejects stops the build with its reason, and so does a wheel that has changed', async () => {
  await writeFile(needs.checksumsFile, JSON.stringify({ 'imageio-ffmpeg 0.8.1': { arm64: 'other' } }));
  await expect(buildLayer('arm64', { ...needs, confirmed: [] })).rejects.toThrow('has changed');
  wheel = undefined;
  await expect(buildLayer('arm64', { ...needs, confirmed: [] })).rejects.toThrow('ERROR: hashes differ');
});

test('the wheel replaces ffmpeg-static where that cannot be downloaded', async () => {
  await writeFile(needs.checksumsFile, JSON.stringify({ 'b6.1.1': { arm64: sum } }));
  expect(await buildLayer('arm64', { ...needs, confirmed: [] })).toMatchObject({ name: 'b6.1.1' });
  await rm(join(needs.outDir, 'arm64'), { recursive: true });
  files = {};
  wheel = Buffer.concat([program(0xb7), Buffer.from('newer')]);
  const built = await buildLayer('arm64', { ...needs, confirmed: [] });
  expect(built.name).toBe('imageio-ffmpeg 0.8.1');
});

test('a checksum that is not the confirmed one is rejected, and no layer is written', async () => {
  await expect(buildLayer('arm64', { ...needs, confirmed: ['other'] })).rejects.toThrow('confirmed');
  await expect(readdir(needs.outDir)).rejects.toThrow('ENOENT');
});

test('the repository has the checksums of the locked wheels for both architectures', async () => {
  const version = await readLockedVersion('layers/ffmpeg/requirements.txt');
  const recorded = JSON.parse(await readFile('layers/ffmpeg/checksums.json', 'utf8'));
  expect(Object.keys(recorded[`imageio-ffmpeg ${version}`])).toEqual(['arm64', 'x86_64']);
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
