import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFfmpegRunner, type FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createFfmpegPool } from '../../../../adapters/media/ffmpeg/ffmpeg-pool.ts';
import {
  clipEndPtsSeconds,
  trimToLastSeconds,
} from '../../../../adapters/media/mpeg-ts/trim-transport-stream.ts';
import { mp4 } from '../../vision/pixel/pictures.ts';
import { ffmpegPath, readMoment, record } from '../../../support/hls/recording.ts';

const never = new AbortController().signal;
const { segments } = await record({ seconds: 8 });
let directory = '';
/** ffmpeg that records the id of each process. */
let counted = '';
let runner: FfmpegRunner;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spare-'));
  counted = join(directory, 'ffmpeg');
  await writeFile(counted, `#!/bin/sh\necho $$ >> ${directory}/started\nexec ${ffmpegPath} "$@"\n`);
  await chmod(counted, 0o755);
  runner = createFfmpegRunner({ ffmpegPath: counted, tempDir: directory });
});
afterEach(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));

function readFrame(segment: number): Promise<number> {
  const input = {
    kind: 'pipe' as const,
    format: 'mpegts' as const,
    chunks: [segments[segment]!],
    seconds: 2,
  };
  const wanted = { mode: 'frames' as const, clipSeconds: 3 };
  return runner
    .run(input, wanted, { timeoutMs: 10_000 }, never)
    .then(({ thumbnail }) => readMoment(thumbnail));
}

async function started(): Promise<number[]> {
  const text = await readFile(join(directory, 'started'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

const startedSoFar = (count: number) =>
  vi.waitFor(async () => expect(await started()).toHaveLength(count), { timeout: 10_000 });

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('idle ffmpeg for frames', () => {
  test('a frame uses the ffmpeg that was started after the previous frame, and shows its own stream', async () => {
    expect(await readFrame(0)).toBeCloseTo(0, 0);
    await startedSoFar(2);
    expect(await readFrame(2)).toBeCloseTo(4, 0);
    expect(await readFrame(3)).toBeCloseTo(6, 0);
    // Three frames and one idle process: every started process was used.
    await startedSoFar(4);
  });

  test('a frame starts an ffmpeg if the idle one has died', async () => {
    await readFrame(0);
    await startedSoFar(2);
    const spare = (await started())[1]!;
    process.kill(spare, 'SIGKILL');
    await vi.waitFor(() => expect(isAlive(spare)).toBe(false), { timeout: 10_000 });
    expect(await readFrame(1)).toBeCloseTo(2, 0);
  });

  test('concurrent frames use separate processes', async () => {
    await readFrame(0);
    await startedSoFar(2);
    const moments = await Promise.all([readFrame(1), readFrame(2), readFrame(3)]);
    expect(moments.map(Math.round)).toEqual([2, 4, 6]);
  });
});

describe('idle ffmpeg for clips', () => {
  const readClip = async (segment: number) => {
    const chunks = trimToLastSeconds([Buffer.from(segments[segment]!)], 1)!;
    const input = { kind: 'pipe', format: 'mpegts', chunks, endsAtSeconds: clipEndPtsSeconds } as const;
    const wanted = { mode: 'clip', clipSeconds: 1 } as const;
    const { clip, thumbnail } = await runner.run(input, wanted, { timeoutMs: 10_000 }, never);
    return { clip, moment: readMoment(thumbnail) };
  };

  test('a clip with a known end uses an idle ffmpeg and its own file', async () => {
    const [first, second] = [await readClip(0), await readClip(2)];
    expect(first.moment).toBeCloseTo(1.9, 0);
    expect(second.moment).toBeCloseTo(5.9, 0);
    expect(second.clip).not.toEqual(first.clip);
    const together = await Promise.all([readClip(1), readClip(3)]);
    expect(together.map(({ moment }) => Math.round(moment))).toEqual([4, 8]);
    await startedSoFar(5);
    expect((await readdir(directory)).toSorted()).toEqual(['ffmpeg', 'started']);
  });
});

test('the decoder of clips uses an idle ffmpeg, started after the previous clip, and never for another size', async () => {
  const decoder = createImageDecoder({ ffmpegPath: counted, prepareAfterMs: 0 });
  const clip = mp4('color=gray:s=320x180:r=10');
  const [small, large] = [
    { width: 32, height: 18 },
    { width: 64, height: 36 },
  ];
  const decode = async (size: typeof small) => (await decoder.decodeClip(clip, size, 4, never))[0]?.length;
  expect(await decode(small)).toBe(32 * 18 * 3);
  await startedSoFar(2);
  expect(await decode(small)).toBe(32 * 18 * 3);
  await startedSoFar(3);
  expect(await decode(large)).toBe(64 * 36 * 3);
  await startedSoFar(5);
});

describe('idle ffmpeg', () => {
  const waits = ['-nostdin', '-loglevel', 'error', '-f', 'mpegts', '-i', 'pipe:0', '-f', 'null', '-'];

  test('an idle ffmpeg is killed after its lifetime', async () => {
    const spares = createFfmpegPool({ ffmpegPath: counted, keepMs: 200, newFile: () => '' });
    spares.prepare(() => waits);
    spares.prepare(() => waits);
    await startedSoFar(1);
    const [pid] = await started();
    await vi.waitFor(() => expect(isAlive(pid!)).toBe(false), { timeout: 10_000 });
  });

  test('the pool holds at most four idle ffmpeg processes', async () => {
    const spares = createFfmpegPool({ ffmpegPath: counted, keepMs: 2000, newFile: () => '' });
    for (let index = 0; index < 6; index += 1) spares.prepare(() => [...waits, '-metadata', `take=${index}`]);
    await startedSoFar(4);
    const [first] = await started();
    await vi.waitFor(() => expect(isAlive(first!)).toBe(false), { timeout: 10_000 });
    expect(await started()).toHaveLength(4);
  });

  test('an idle ffmpeg does not keep its parent alive, and ends with it', async () => {
    const script = `
      import { createFfmpegPool } from '${join(import.meta.dirname, '../../../../adapters/media/ffmpeg/ffmpeg-pool.ts')}';
      createFfmpegPool({ ffmpegPath: '${counted}', keepMs: 600_000, newFile: () => '' }).prepare(() => ${JSON.stringify(waits)});
    `;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 });
    await startedSoFar(1);
    const [pid] = await started();
    await vi.waitFor(() => expect(isAlive(pid!)).toBe(false), { timeout: 10_000 });
  });
});
