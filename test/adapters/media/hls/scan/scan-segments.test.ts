import { expect, test } from 'vitest';
import { EgressTimeoutError } from '../../../../../adapters/egress/errors.ts';
import type { Segment } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { createScanBudget } from '../../../../../adapters/media/hls/scan/scan-budget.ts';
import { readSegments } from '../../../../../adapters/media/hls/scan/scan-segments.ts';
import { writeTransportStream } from '../../../../../adapters/media/mpeg-ts/write-transport-stream.ts';

const keyFrame = Buffer.from([0, 0, 0, 1, 0x65, 0x88, 0x80]);
const body = writeTransportStream('H264', [{ bytes: keyFrame, isKeyFrame: true, pts: 90_000 }]);

test('a segment that stalls leaves time to decode the others', async () => {
  let elapsed = 0;
  const http = {
    request: async (url: string, { timeoutMs }: { timeoutMs: number }) => {
      if (!url.endsWith('1.ts')) return { status: 200, body };
      elapsed += timeoutMs;
      throw new EgressTimeoutError('The request timed out');
    },
  } as never;
  const segments = [1, 2].map((number) => ({
    url: `https://camera.test/${number}.ts`,
    sequence: BigInt(number),
    durationSeconds: 2,
    byteRange: null,
    initialization: null,
    key: null,
  })) as unknown as Segment[];
  const budget = createScanBudget({ bytes: 1e6, milliseconds: 6000, elapsedMs: () => elapsed });
  const fetcher = { http, captureBytes: 1e6, requestTimeoutMs: 10_000 };
  const read = await readSegments(fetcher, segments, [], budget, new AbortController().signal);
  expect(read.map(({ segment }) => segment.sequence)).toEqual([2n]);
  expect(budget.leftMs()).toBeGreaterThan(1000);
});
