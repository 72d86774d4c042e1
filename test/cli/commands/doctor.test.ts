import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataPaths } from '../../../adapters/embedded/files/data-directory.ts';
import { openDatabase } from '../../../adapters/embedded/sqlite/database.ts';
import { openMasterSecret } from '../../../adapters/embedded/callers/master-secret.ts';
import { addDoctor } from '../../../cli/commands/doctor.ts';
import { runCommand } from '../../support/run-command.ts';
import { record } from '../../support/hls/recording.ts';
import { startHlsServer } from '../../support/hls/hls-server.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

const options = ['doctor', '--json', '--vision', 'pixel'];

async function doctor(args: string[]) {
  const failed = (error: unknown) => error as { code: number; stdout: string };
  const run = runCommand(addDoctor, ...options, ...args);
  const { code, stdout } = await run.then((done) => ({ code: 0, ...done }), failed);
  const { status, checks } = JSON.parse(stdout);
  const find = (name: string) => checks.filter(({ check }: { check: string }) => check === name);
  return { code, status, find };
}

test('a machine that has everything passes, and a missing data directory is not created', async () => {
  const dataDir = join(folderOfTest(), 'data');
  const { code, status, find } = await doctor(['--data-dir', dataDir, '--port', '0']);
  expect({ code, status }).toEqual({ code: 0, status: 'ok' });
  expect(find('model')[0].message).toMatch(/^objects: answered a test picture in \d+\.\d s$/);
  expect(existsSync(dataDir)).toBe(false);
});

test('each fault is found with its next step, and a URL is shown without its password', async () => {
  const dataDir = folderOfTest();
  writeFileSync(join(dataDir, 'watchpost.sqlite'), 'Something else entirely. '.repeat(100));
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };

  const { code, find } = await doctor(
    [
      `--data-dir ${dataDir} --port ${port} --allow-ranges 127.0.0.1/32`,
      '--vision openai --vision-model llava --openai-url http://127.0.0.1:1/v1',
      'rtsp://user:geheim@127.0.0.1:9/x http://10.0.0.3/a.m3u8',
    ].flatMap((line) => line.split(' ')),
  );
  other.close();

  expect(code).toBe(1);
  const [closed, hidden] = find('streams');
  for (const finding of [find('model')[0], find('data')[0], find('ports')[0], closed, hidden])
    expect(finding).toMatchObject({ status: 'failed', next: expect.stringMatching(/\w/) });
  expect(find('data')[0].next).toContain('restore FOLDER');
  expect(find('ports')[0].next).toContain('--port');
  expect(closed.detail).toBe('rtsp://user:***@127.0.0.1:9/x');
  expect(hidden.next).toContain('--allow-ranges 127.0.0.1/32,10.0.0.3/32');
});

test('a folder that cannot be created and a changed master secret are faults, and nothing is left behind', async () => {
  const folder = folderOfTest();
  writeFileSync(join(folder, 'file'), '');
  for (const dataDir of ['/proc/watchpost', join(folder, 'file', 'data')]) {
    const [data] = (await doctor(['--data-dir', dataDir, '--port', '0'])).find('data');
    expect(data).toMatchObject({ status: 'failed', next: expect.stringContaining('--data-dir') });
  }
  expect(readdirSync(folder)).toEqual(['file']);

  const { database: file, masterSecret } = dataPaths(folder);
  const database = openDatabase(file);
  await openMasterSecret(masterSecret, database);
  database.close();
  writeFileSync(masterSecret, Buffer.alloc(32).toString('base64'));
  const [changed] = (await doctor(['--data-dir', folder, '--port', '0'])).find('data');
  expect(changed).toMatchObject({ status: 'failed', next: expect.stringContaining('--secret-only') });
});

test('a stream with rare pictures is a warning that names their distance', async () => {
  const server = await startHlsServer(await record());
  const sparse = { editPlaylist: (text: string) => text.replace(/TARGETDURATION:\d+/, 'TARGETDURATION:25') };
  Object.assign(server, sparse);
  const options = ['--data-dir', folderOfTest(), '--port', '0', '--allow-ranges', '127.0.0.1'];
  const [stream] = (await doctor([...options, server.url('/live.m3u8')])).find('streams');
  await server.close();
  expect(stream).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('a picture every 25 s or more'),
    next: expect.stringContaining('key frame interval'),
  });
});

test('a stream of which packets are lost is a fault of its own, with what helps', async () => {
  const server = await startHlsServer(await record({ segmentType: 'fmp4' }));
  server.answer = (path, answer) =>
    path.includes('.m4s') ? { ...answer, body: answer.body.slice(0, -20) } : answer;
  const options = ['--data-dir', folderOfTest(), '--port', '0', '--allow-ranges', '127.0.0.1'];
  const [stream] = (await doctor([...options, server.url('/live.m3u8')])).find('streams');
  await server.close();
  expect(stream).toMatchObject({
    status: 'failed',
    message: 'pictures arrive damaged: packets are lost',
    next: expect.stringContaining('second stream of the camera'),
  });
});

test('streams are reported as not tested if there is no usable ffmpeg', async () => {
  const folder = folderOfTest();
  const broken = join(folder, 'ffmpeg');
  writeFileSync(broken, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const { find } = await doctor([
    '--data-dir',
    folder,
    '--port',
    '0',
    '--ffmpeg',
    broken,
    'https://user:geheim@example.com/live.m3u8',
  ]);
  expect(find('ffmpeg')[0].status).toBe('failed');
  expect(find('streams')).toEqual([
    expect.objectContaining({
      status: 'warning',
      message: 'not tested: there is no usable ffmpeg',
      detail: 'https://user:***@example.com/live.m3u8',
    }),
  ]);
});
