import { TransientError } from '../../../../core/errors.ts';
import { expect, test } from 'vitest';
import {
  spawnFfmpeg,
  type FfmpegOutcome,
  type FfmpegRun,
} from '../../../../adapters/media/ffmpeg/spawn-ffmpeg.ts';

const never = new AbortController().signal;

/** Shell script that simulates a misbehaving ffmpeg. */
function shell(script: string, more: Partial<FfmpegRun> = {}, signal = never): Promise<FfmpegOutcome> {
  const run = { ffmpegPath: '/bin/sh', args: ['-c', script], outputBytes: 1000, timeoutMs: 5000, ...more };
  return spawnFfmpeg(run, signal);
}

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a');
  await new Promise((resolve) => setTimeout(resolve, 5));
  yield Buffer.from('b');
}

async function* stalled(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a');
  await new Promise(() => {});
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a');
  throw new Error('segment is gone');
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test('spawnFfmpeg collects stdout, file descriptor 3 and stderr separately', async () => {
  const outcome = await shell('echo out; echo three >&3; echo bad >&2; exit 4');
  expect(outcome).toMatchObject({ ended: 'exited', exitCode: 4, stderr: 'bad\n' });
  expect([text(outcome.stdout), text(outcome.fd3)]).toEqual(['out\n', 'three\n']);
});

test('spawnFfmpeg starts the program with an empty environment', async () => {
  process.env['http_proxy'] = 'http://127.0.0.1:1';
  const outcome = await shell('echo "$http_proxy $HOME $AWS_SECRET_ACCESS_KEY"');
  delete process.env['http_proxy'];
  expect(text(outcome.stdout).trim()).toBe('');
});

test('spawnFfmpeg lowers the priority of a program that can wait', async () => {
  // The priority is set after the start.
  const priority = 'read line; cut -d " " -f 19 /proc/self/stat';
  const input = [Buffer.from('\n')];
  const [first, second] = [await shell(priority, { input }), await shell(priority, { input, canWait: true })];
  expect(Number(text(first.stdout))).toBeLessThan(10);
  expect(Number(text(second.stdout))).toBe(10);
});

test('spawnFfmpeg writes chunks as they arrive', async () => {
  expect(text((await shell('cat', { input: chunks() })).stdout)).toBe('ab');
});

test('spawnFfmpeg does not wait for a program that stops reading early', async () => {
  const megabytes = Array.from({ length: 16 }, () => new Uint8Array(1024 * 1024));
  const outcome = await shell('head -c 3 >/dev/null; echo enough', { input: megabytes });
  expect(text(outcome.stdout)).toBe('enough\n');
});

test('spawnFfmpeg closes its input when the program ends', async () => {
  let released = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      while (true) yield new Uint8Array(1024 * 1024);
    } finally {
      released = true;
    }
  }
  await shell('exit 0', { input: endless() });
  await expect.poll(() => released).toBe(true);
});

test('spawnFfmpeg ends without waiting for chunks that are no longer read', async () => {
  expect(await shell('exit 0', { input: stalled() })).toMatchObject({ ended: 'exited', exitCode: 0 });
});

test('spawnFfmpeg kills the program at the timeout', async () => {
  const startedMs = performance.now();
  const outcome = await shell('exec sleep 30', { timeoutMs: 50 });
  expect(outcome).toMatchObject({ ended: 'timed out', exitCode: null });
  expect(performance.now() - startedMs).toBeLessThan(3000);
});

test('spawnFfmpeg kills a program with endless output and keeps at most the limit', async () => {
  const outcome = await shell('exec cat /dev/zero', { outputBytes: 5000 });
  expect(outcome.ended).toBe('wrote too much');
  expect(outcome.stdout.length).toBe(5000);
});

test('spawnFfmpeg drains endless stderr and keeps its beginning', async () => {
  const outcome = await shell('head -c 1000000 /dev/zero | tr "\\0" x >&2; echo fine');
  expect(text(outcome.stdout)).toBe('fine\n');
  expect(outcome.stderr.length).toBe(65_536);
});

test('spawnFfmpeg rejects with the error of its input and kills the program', async () => {
  await expect(shell('exec sleep 30', { input: broken() })).rejects.toThrow('segment is gone');
});

test('spawnFfmpeg rejects with the abort reason and kills the program', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('cancelled')), 20);
  await expect(shell('exec sleep 30', {}, controller.signal)).rejects.toThrow('cancelled');
});

test('spawnFfmpeg starts nothing if the signal has already aborted', async () => {
  await expect(shell('exit 0', {}, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
});

test('spawnFfmpeg rejects if the program does not exist', async () => {
  await expect(shell('', { ffmpegPath: '/no/ffmpeg' })).rejects.toThrow(TransientError);
});
