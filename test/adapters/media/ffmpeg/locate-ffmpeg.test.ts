import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FfmpegMissingError } from '../../../../adapters/media/ffmpeg/errors.ts';
import { locateFfmpeg, type LocateOptions } from '../../../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';

let directory = '';
const installed = (): Promise<unknown> => Promise.resolve({ default: ffmpegPath });
const absent = (): Promise<unknown> => Promise.reject(new Error('Cannot find package'));

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'locate-'));
  await symlink(ffmpegPath, join(directory, 'ffmpeg'));
});
afterAll(() => rm(directory, { recursive: true }));

async function impostor(name: string, script: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

async function readFailure(options: LocateOptions): Promise<FfmpegMissingError> {
  const error: unknown = await locateFfmpeg(options).catch((error: unknown) => error);
  if (error instanceof FfmpegMissingError) return error;
  throw new Error('Expected a FfmpegMissingError');
}

test('locateFfmpeg prefers the setting and returns its version', async () => {
  const found = await locateFfmpeg({ setting: ffmpegPath, env: {}, importStatic: absent });
  expect(found).toMatchObject({ path: ffmpegPath, source: 'setting' });
  expect(found.version).toMatch(/\d/);
});

test('locateFfmpeg tries no other candidate if the setting is unusable', async () => {
  const failure = await readFailure({ setting: '/no/ffmpeg', env: { PATH: directory } });
  expect(failure.message).toContain('it does not run');
});

test('locateFfmpeg prefers ffmpeg-static to PATH', async () => {
  const found = await locateFfmpeg({ env: { PATH: directory }, importStatic: installed });
  expect(found).toMatchObject({ path: ffmpegPath, source: 'ffmpeg-static' });
});

test('locateFfmpeg uses FFMPEG_BIN instead of ffmpeg-static', async () => {
  const found = await locateFfmpeg({ env: { FFMPEG_BIN: ffmpegPath }, importStatic: absent });
  expect(found.source).toBe('ffmpeg-static');
});

test.each([
  ['is not installed', absent],
  ['has no binary for the platform', () => Promise.resolve({ default: null })],
  ['has lost its download', () => Promise.resolve({ default: '/no/ffmpeg' })],
])('locateFfmpeg searches PATH if ffmpeg-static %s', async (_case, importStatic) => {
  const found = await locateFfmpeg({ env: { PATH: `/no/where:${directory}` }, importStatic });
  expect(found).toMatchObject({ path: join(directory, 'ffmpeg'), source: 'PATH' });
});

test('locateFfmpeg lists install commands if no ffmpeg is found', async () => {
  const failure = await readFailure({ env: { PATH: '' }, importStatic: absent });
  expect(failure.message).toBe('ffmpeg was not found');
  for (const command of [
    'apt-get install -y ffmpeg',
    'brew install ffmpeg',
    'WATCHPOST_FFMPEG',
    '--ffmpeg',
  ]) {
    expect(failure.remediation).toContain(command);
  }
});

test.each([
  ['another program', 'echo hello', 'output has no ffmpeg version'],
  ['too old', 'echo "ffmpeg version 4.4.2-0ubuntu0.22.04.1 Copyright" >&2', 'older than 5.1'],
  [
    'built without x264',
    'echo " V..... mjpeg x"; echo "ffmpeg version 7.1 Copyright" >&2',
    'without libx264, rawvideo',
  ],
])('locateFfmpeg rejects an ffmpeg that is %s', async (name, script, reason) => {
  const failure = await readFailure({ setting: await impostor(name, script), env: {} });
  expect(failure.message).toContain(reason);
});
