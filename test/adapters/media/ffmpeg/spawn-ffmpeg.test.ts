import { TransientError } from '../../../../core/errors.ts';
import { describe, expect, it } from 'vitest';
import {
  spawnFfmpeg,
  type FfmpegOutcome,
  type FfmpegRun,
} from '../../../../adapters/media/ffmpeg/spawn-ffmpeg.ts';

const never = new AbortController().signal;

/** A shell stands in for an ffmpeg that misbehaves. */
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

describe('spawnFfmpeg', () => {
  it('collects stdout, file descriptor 3 and complaints apart', async () => {
    const outcome = await shell('echo out; echo three >&3; echo bad >&2; exit 4');
    expect(outcome).toMatchObject({ ended: 'exited', exitCode: 4, complaints: 'bad\n' });
    expect([text(outcome.stdout), text(outcome.fd3)]).toEqual(['out\n', 'three\n']);
  });

  it('hands over nothing of its environment', async () => {
    process.env['http_proxy'] = 'http://127.0.0.1:1';
    const outcome = await shell('echo "$http_proxy $HOME $AWS_SECRET_ACCESS_KEY"');
    delete process.env['http_proxy'];
    expect(text(outcome.stdout).trim()).toBe('');
  });

  it('feeds chunks as they come', async () => {
    expect(text((await shell('cat', { input: chunks() })).stdout)).toBe('ab');
  });

  it('does not wait for a program that stops reading before all is written', async () => {
    const megabytes = Array.from({ length: 16 }, () => new Uint8Array(1024 * 1024));
    const outcome = await shell('head -c 3 >/dev/null; echo enough', { input: megabytes });
    expect(text(outcome.stdout)).toBe('enough\n');
  });

  it('lets go of its input when the program is gone', async () => {
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

  it('ends without waiting for chunks that nobody reads any more', async () => {
    expect(await shell('exit 0', { input: stalled() })).toMatchObject({ ended: 'exited', exitCode: 0 });
  });

  it('kills at the time limit', async () => {
    const startedMs = performance.now();
    const outcome = await shell('exec sleep 30', { timeoutMs: 50 });
    expect(outcome).toMatchObject({ ended: 'timed out', exitCode: null });
    expect(performance.now() - startedMs).toBeLessThan(3000);
  });

  it('kills what writes without end, and keeps no more than the limit', async () => {
    const outcome = await shell('exec cat /dev/zero', { outputBytes: 5000 });
    expect(outcome.ended).toBe('wrote too much');
    expect(outcome.stdout.length).toBe(5000);
  });

  it('reads complaints without end and keeps their beginning', async () => {
    const outcome = await shell('head -c 1000000 /dev/zero | tr "\\0" x >&2; echo fine');
    expect(text(outcome.stdout)).toBe('fine\n');
    expect(outcome.complaints.length).toBe(4096);
  });

  it('rejects with what its input throws, and kills', async () => {
    await expect(shell('exec sleep 30', { input: broken() })).rejects.toThrow('segment is gone');
  });

  it('rejects with the reason of an abort, and kills', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('cancelled')), 20);
    await expect(shell('exec sleep 30', {}, controller.signal)).rejects.toThrow('cancelled');
  });

  it('starts nothing for a signal that is aborted already', async () => {
    await expect(shell('exit 0', {}, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  });

  it('rejects when there is no such program', async () => {
    await expect(shell('', { ffmpegPath: '/no/ffmpeg' })).rejects.toThrow(TransientError);
  });
});
