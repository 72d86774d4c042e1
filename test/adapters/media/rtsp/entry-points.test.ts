import { tmpdir } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../../../../adapters/media/rtsp/capture-rtsp.ts';
import { createRtspSessions } from '../../../../adapters/media/rtsp/session/rtsp-sessions.ts';
import { thumbnail, type Capture, type CaptureRequest } from '../../../../core/records/capture.ts';
import { ffmpegPath, readMoment } from '../../../support/hls/recording.ts';
import { startCamera } from '../../../support/rtsp/camera.ts';
import { recordRtp, type RtpPacket } from '../../../support/rtsp/rtp-recording.ts';

/**
 * Starts a camera that is joined at its frame 3: 3 s with a group of 0.5 s each, whose only IDR picture is the first
 * one.
 */
async function join(groups: 'open' | 'refreshed') {
  const recording = await recordRtp({ groups });
  const times = [...new Set(recording.packets.filter(({ isControl }) => !isControl).map(timestamp))];
  const early = new Set(times.slice(0, 3));
  const camera = await startCamera(recording, {
    packet: (packet) => (!packet.isControl && early.has(timestamp(packet)) ? null : packet.bytes),
  });
  onTestFinished(() => camera.close());
  return camera.url;
}

function timestamp({ bytes }: RtpPacket): number {
  return bytes.readUInt32BE(4);
}

function openCapturer({ hasSessions }: { hasSessions: boolean }) {
  const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });
  const reported: string[] = [];
  const sessions = createRtspSessions({
    guard,
    elapsedMs: () => performance.now(),
    setTimer: () => () => undefined,
    maxKept: 1,
    reportFallback: (_url, reason) => reported.push(reason),
  });
  onTestFinished(() => sessions.close());
  const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: tmpdir() });
  const capturer = createRtspCapturer({
    guard,
    ffmpeg,
    now: () => new Date(),
    ...(hasSessions && { sessions }),
  });
  const { signal } = new AbortController();
  return {
    reported,
    capture: (url: string, more: Partial<CaptureRequest> = {}) =>
      capturer.capture(
        { url, mode: 'frames', clipSeconds: 1, caller: 'ada', resolveAgain: false, ...more },
        signal,
      ),
  };
}

/** Difference of the brightest and the darkest pixel. A picture of the recording has one brightness. */
function contrast({ thumbnail: planar }: Capture): number {
  const luma = planar.subarray(0, thumbnail.width * thumbnail.height);
  return Math.max(...luma) - Math.min(...luma);
}

describe.each(['open', 'refreshed'] as const)('a camera with groups of kind "%s"', (groups) => {
  test.each([
    ['a session', true],
    ['a connection of its own', false],
  ])('a frame through %s is whole, and new', async (_way, hasSessions) => {
    const { capture, reported } = openCapturer({ hasSessions });
    const frame = await capture(await join(groups));
    expect(contrast(frame)).toBeLessThanOrEqual(4);
    expect(readMoment(frame.thumbnail)).toBeGreaterThan(hasSessions ? 2.2 : 0.3);
    expect(frame.clip).toBeUndefined();
    expect(reported).toEqual([]);
  });

  test('a clip has the newest second, and whole pictures only', async () => {
    const clip = await openCapturer({ hasSessions: true }).capture(await join(groups), { mode: 'clip' });
    expect(contrast(clip)).toBeLessThanOrEqual(4);
    expect(readMoment(clip.thumbnail)).toBeGreaterThan(2.2);
    expect(clip.clip?.length).toBeGreaterThan(1000);
  });
});
