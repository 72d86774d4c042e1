import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Segment } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { createScanBudget } from '../../../../../adapters/media/hls/scan/scan-budget.ts';
import { readSegments } from '../../../../../adapters/media/hls/scan/scan-segments.ts';
import { writeTransportStream } from '../../../../../adapters/media/mpeg-ts/write-transport-stream.ts';

const keyFrame = Buffer.from([0, 0, 0, 1, 0x65, 0x88, 0x80]);
const body = writeTransportStream('H264', [{ bytes: keyFrame, isKeyFrame: true, pts: 90_000 }]);

/** Reads segments of a scan of 6 s, of which those that `answer` is false for stall. */
async function read(segments: number, answer: (number: number) => Promise<boolean> | boolean) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const http = {
    request: async (url: string, { signal }: { signal: AbortSignal }) => {
      if (await answer(Number(/\d+/.exec(url)?.[0]))) return { status: 200, body };
      signal.throwIfAborted();
      await once(signal, 'abort');
      throw signal.reason;
    },
  } as never;
  const listed = Array.from({ length: segments }, (_, index) => ({
    url: `https://camera.test/${index + 1}.ts`,
    sequence: BigInt(index + 1),
    durationSeconds: 2,
    byteRange: null,
    initialization: null,
    key: null,
  })) as unknown as Segment[];
  const budget = createScanBudget({ bytes: 1e6, milliseconds: 6000, elapsedMs: Date.now });
  const fetcher = { http, captureBytes: 1e6, requestTimeoutMs: 10_000 };
  const reading = readSegments(fetcher, listed, [], budget, new AbortController().signal);
  // In steps, so that what is ready runs between them.
  for (let step = 0; step < 60; step += 1) await vi.advanceTimersByTimeAsync(100);
  return { read: (await reading).map(({ segment }) => Number(segment.sequence)), leftMs: budget.leftMs() };
}

test.each([
  [[1], [2, 3, 4]],
  [[4], [1, 2, 3]],
  [[2, 3, 4], [1]],
])('segments %j that stall leave time to decode %j', async (stalled, others) => {
  expect(await read(4, (number) => !stalled.includes(number))).toEqual({ read: others, leftMs: 1800 });
});

test('a single segment may take nearly all of the time', async () => {
  const slow = () => new Promise<boolean>((resolve) => void setTimeout(() => resolve(true), 5500));
  expect((await read(1, slow)).read).toEqual([1]);
});
