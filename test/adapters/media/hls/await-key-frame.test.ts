import { describe, expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../../adapters/egress/guarded-http.ts';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer } from '../../../../adapters/media/hls/capture-hls.ts';
import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { serveFiles, type Served } from '../../../support/hls/file-server.ts';
import { ffmpegPath, readMoment, record } from '../../../support/hls/recording.ts';
import { readFailure } from '../../../support/hls/watched-stream.ts';
import { sharedFolder } from '../../../support/runner/run-folder.ts';

type SmallWindow = {
  /** Segments of the recording, one for each request. */
  order: number[];
  segmentType?: 'mpegts' | 'fmp4';
  targetSeconds?: number;
};

/**
 * Starts the HLS of go2rtc: the playlist lists two segments of half a second; a request for either returns what was
 * sent since the last one, and advances the playlist. Key frames of the recording are in the segments 0, 4, 8, …, each
 * at its start.
 */
async function watchSmallWindow({ order, segmentType = 'mpegts', targetSeconds = 1 }: SmallWindow) {
  const recording = await record({ keyFrameSeconds: 8, seconds: 40, segmentType });
  let sent = 0;
  const suffix = segmentType === 'mpegts' ? 'ts' : 'm4s';
  const next: Served = () => {
    const body = recording.segments[order[sent % order.length] ?? 0];
    sent += 1;
    return body ? { body: segmentType === 'mpegts' ? unmarked(body) : body } : { status: 404, body: '' };
  };
  const map = recording.initialization ? '#EXT-X-MAP:URI="init.mp4"\n' : '';
  const segment = (number: number): string => `#EXTINF:0.500,\nsegment.${suffix}?n=${number}`;
  const server = await serveFiles({
    '/live.m3u8': () => ({
      body: `#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:${targetSeconds}\n#EXT-X-MEDIA-SEQUENCE:${sent}\n${map}${segment(sent)}\n${segment(sent + 1)}`,
    }),
    [`/segment.${suffix}`]: next,
    ...(recording.initialization && { '/init.mp4': recording.initialization }),
  });
  onTestFinished(() => server.close());
  return { capture: await openCapturer(server.url('/live.m3u8')), requests: server.requests };
}

async function openCapturer(url: string) {
  const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
  onTestFinished(() => http.close());
  let elapsedMs = 0;
  const capturer = createHlsCapturer({
    http,
    ffmpeg: createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() }),
    now: () => new Date(),
    elapsedMs: () => elapsedMs,
    wait: async (delayMs) => {
      elapsedMs += delayMs;
      await Promise.resolve();
    },
  });
  return {
    elapsedMs: () => elapsedMs,
    take: async (mode: CaptureRequest['mode'] = 'frames') =>
      capturer.capture(
        { url, mode, clipSeconds: 3, caller: 'ada', resolveAgain: false },
        new AbortController().signal,
      ),
  };
}

/** Clears the random access indicator, which not every server sets. */
function unmarked(segment: Buffer): Buffer {
  const bytes = Buffer.from(segment);
  for (let at = 0; at + 188 <= bytes.length; at += 188)
    if ((bytes[at + 3]! & 0x20) !== 0 && bytes[at + 4]! > 0) bytes[at + 5]! &= ~0x40;
  return bytes;
}

describe.each(['mpegts', 'fmp4'] as const)('a playlist of two half seconds (%s)', (segmentType) => {
  test('a short playlist is polled for a frame until a key frame arrives', async () => {
    const { capture } = await watchSmallWindow({ order: [5, 6, 7, 5, 6, 7, 5, 6, 8, 9], segmentType });
    const { thumbnail } = await capture.take();
    expect(readMoment(thumbnail)).toBeCloseTo(16, 0);
    expect(capture.elapsedMs()).toBeGreaterThanOrEqual(1_000);
    expect(capture.elapsedMs()).toBeLessThanOrEqual(5_000);
  });

  test('a short playlist is polled for a clip until it is whole', async () => {
    const order = Array.from({ length: 20 }, (_, index) => index + 1);
    const { capture } = await watchSmallWindow({ order: order.slice(0, 19), segmentType });
    const { clip } = await capture.take('clip');
    const decoder = createImageDecoder({ ffmpegPath });
    const frames = await decoder.decodeClip(clip!, { width: 32, height: 18 }, 5, AbortSignal.timeout(20_000));
    expect(frames).toHaveLength(15);
  });

  test.each(['frames', 'clip'] as const)(
    'a short playlist fails after 12 s without a key frame (%s)',
    async (mode) => {
      const { capture } = await watchSmallWindow({ order: [5, 6, 7], segmentType });
      const { remediation } = await readFailure(capture.take(mode));
      expect(remediation).toContain('no key frame');
      expect(remediation).not.toContain('codec');
      expect(capture.elapsedMs()).toBeGreaterThanOrEqual(10_500);
      expect(capture.elapsedMs()).toBeLessThanOrEqual(13_000);
    },
  );
});

test('a short playlist whose segments are no media fails without a wait', async () => {
  const listed = '#EXTINF:0.5,\n0.ts\n#EXTINF:0.5,\n1.ts';
  const page = '<html><body>404: no such stream</body></html>';
  const server = await serveFiles({
    '/live.m3u8': `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${listed}`,
    '/0.ts': page,
    '/1.ts': page,
  });
  onTestFinished(() => server.close());
  const { take, elapsedMs } = await openCapturer(server.url('/live.m3u8'));
  expect((await readFailure(take())).remediation).not.toContain('key frame');
  expect(elapsedMs()).toBe(0);
});

test('a short playlist that states a target duration of a day is polled as often as others', async () => {
  const { capture } = await watchSmallWindow({ order: [5, 6, 7], targetSeconds: 86_400 });
  expect((await readFailure(capture.take())).remediation).toContain('no key frame');
  expect(capture.elapsedMs()).toBeLessThanOrEqual(13_000);
});

test('a long playlist without key frames fails without a wait', async () => {
  const { segments } = await record({ keyFrameSeconds: 8, seconds: 40 });
  const listed = [1, 2, 3, 5, 6, 7].map((number) => `#EXTINF:2,\n${number}.ts`).join('\n');
  const server = await serveFiles({
    '/live.m3u8': `#EXTM3U\n#EXT-X-TARGETDURATION:2\n${listed}`,
    ...Object.fromEntries(segments.map((segment, index) => [`/${index}.ts`, segment])),
  });
  onTestFinished(() => server.close());
  const { take, elapsedMs } = await openCapturer(server.url('/live.m3u8'));
  expect((await readFailure(take())).remediation).toContain('no key frame');
  expect(elapsedMs()).toBe(0);
});
