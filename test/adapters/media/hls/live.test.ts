import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../../adapters/egress/guarded-http.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer } from '../../../../adapters/media/hls/capture-hls.ts';
import { startLiveHls } from '../../../../cli/demo/live-hls.ts';
import { ffmpegPath, readMoment } from '../../../support/hls/recording.ts';

const never = new AbortController().signal;
const scene = [
  '-re',
  '-f',
  'lavfi',
  '-i',
  "nullsrc=size=160x90:rate=10,format=yuv420p,geq=lum='30+12*T':cb=128:cr=128",
];
const endings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

test.each(['mpegts', 'fmp4'] as const)(
  'a live stream of ffmpeg (%s) is captured as it advances',
  async (segmentType) => {
    const tempDir = await mkdtemp(join(tmpdir(), 'live-'));
    endings.push(() => rm(tempDir, { recursive: true, maxRetries: 10 }));
    const live = await startLiveHls({
      ffmpegPath,
      inputArgs: scene,
      segmentSeconds: 1,
      segmentType,
      host: '127.0.0.1',
    });
    endings.push(() => live.close());
    const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
    endings.push(() => http.close());
    const capturer = createHlsCapturer({
      http,
      ffmpeg: createFfmpegRunner({ ffmpegPath, tempDir }),
      now: () => new Date(),
    });
    const request = {
      url: live.url,
      mode: 'frames' as const,
      clipSeconds: 1,
      caller: 'ada',
      resolveAgain: false,
    };

    await expect(capturer.probe(live.url, never, 'ada')).resolves.toMatchObject({ platform: 'hls' });
    const first = await capturer.capture(request, never);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const second = await capturer.capture({ ...request, mode: 'hybrid' }, never);

    expect(second.position).not.toEqual(first.position);
    expect(readMoment(second.thumbnail)).toBeGreaterThan(readMoment(first.thumbnail));
    expect(second.capturedAt.getTime()).toBeGreaterThan(first.capturedAt.getTime());
    expect(Math.abs(Date.now() - second.capturedAt.getTime())).toBeLessThan(10_000);
    expect(second.clip?.length).toBeGreaterThan(1000);
  },
);

test('a scene that ffmpeg cannot read is an error with the reason', async () => {
  const inputArgs = ['-f', 'lavfi', '-i', 'nosuchsource'];
  const starting = startLiveHls({ ffmpegPath, inputArgs, segmentSeconds: 1, host: '127.0.0.1' });
  await expect(starting).rejects.toThrow(/nosuchsource/);
});
