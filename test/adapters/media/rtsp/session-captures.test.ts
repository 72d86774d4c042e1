import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { poolDecoders } from '../../../../adapters/media/ffmpeg/decoder-pool.ts';
import { damagedStream } from '../../../../adapters/media/ffmpeg/errors.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../../../../adapters/media/rtsp/capture-rtsp.ts';
import { createRtspSessions } from '../../../../adapters/media/rtsp/session/rtsp-sessions.ts';
import { thumbnail, type Capture, type CaptureRequest } from '../../../../core/records/capture.ts';
import { ffmpegPath, readMoment } from '../../../support/hls/recording.ts';
import { startCamera, type CameraOddities } from '../../../support/rtsp/camera.ts';
import { startGstRtspServer } from '../../../support/rtsp/gst-rtsp-server.ts';
import { recordRtp } from '../../../support/rtsp/rtp-recording.ts';
import { startTcpProxy } from '../../../support/servers/tcp-proxy.ts';
import { readPicture } from '../../../support/read-picture.ts';
import { folderOfFile } from '../../../support/temporary-folder.ts';

const tempDir = folderOfFile();

/** Starts a camera of GStreamer behind a proxy that counts its connections. */
async function startCountedCamera(...flags: string[]) {
  const server = await startGstRtspServer(...flags);
  return { ...(await countConnections(server)), flipsAt: server.flipsAt };
}

/** Starts a proxy in front of a camera, and closes both after the test. */
async function countConnections(camera: { url: string; close(): Promise<void> }) {
  onTestFinished(() => camera.close());
  const { hostname, port } = new URL(camera.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => proxy.close());
  return { ...proxy, url: camera.url.replace(port, `${proxy.port}`) };
}

/**
 * Creates the capturer of one machine, of which the first pictures are `damaged`. Its timers fire when the test says
 * so.
 */
function openCapturer({ damaged = 0 } = {}) {
  const timers = new Map<() => void, number>();
  const inputs: string[] = [];
  const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });
  const runner = createFfmpegRunner({ ffmpegPath, tempDir });
  const counted: FfmpegRunner = {
    run: async (input, ...rest) => {
      inputs.push(input.kind);
      if (inputs.length <= damaged) throw damagedStream('A hole');
      return runner.run(input, ...rest);
    },
    runAll: runner.runAll,
  };
  const sessions = createRtspSessions({
    guard,
    elapsedMs: () => performance.now(),
    setTimer: (fire, delayMs) => {
      timers.set(fire, delayMs);
      return () => void timers.delete(fire);
    },
    maxKept: 10,
  });
  onTestFinished(() => sessions.close());
  const ffmpeg = poolDecoders({ ffmpegPath, ffmpeg: counted, maxProcesses: 2 });
  const capturer = createRtspCapturer({ guard, ffmpeg, now: () => new Date(), sessions });
  const { signal } = new AbortController();
  return {
    inputs,
    probe: (url: string) => capturer.probe(url, signal, 'ada'),
    capture: (url: string, mode: CaptureRequest['mode'] = 'frames', measuresKeyFrames = false) =>
      capturer.capture(
        { url, mode, clipSeconds: 1, caller: 'ada', resolveAgain: false, measuresKeyFrames },
        signal,
      ),
    lookBack: (url: string, since: string | null, mode: CaptureRequest['mode'] = 'frames') =>
      capturer.capture(
        { url, mode, clipSeconds: 1, caller: 'ada', resolveAgain: false, lookBack: { since } },
        signal,
      ),
    /** Fires the timers of this time once there are any. */
    passTimer: async (delayMs: number) => {
      await expect.poll(() => [...timers.values()]).toContain(delayMs);
      for (const [fire, timerMs] of timers) if (timerMs === delayMs) fire();
    },
    passTimers: () => {
      for (const fire of timers.keys()) fire();
    },
  };
}

/** Color of the middle pixel: the video of GStreamer is blue, and red after the flip. */
function color({ thumbnail: planar }: Pick<Capture, 'thumbnail'>): 'blue' | 'red' | 'other' {
  const pixels = thumbnail.width * thumbnail.height;
  const middle = (thumbnail.width / 2) * (thumbnail.height / 4) + thumbnail.width / 4;
  const [blue, red] = [planar[pixels + middle]!, planar[pixels * 1.25 + middle]!];
  if (blue > 180 && red < 140) return 'blue';
  return red > 180 && blue < 140 ? 'red' : 'other';
}

describe('a probe', () => {
  async function startSmallCamera(odd: CameraOddities = {}) {
    const camera = await startCamera(await recordRtp(), odd);
    const count = (method: string) => camera.requests.filter((request) => request.method === method).length;
    return { count, ...(await countConnections(camera)) };
  }

  test.each(['frames', 'clip'] as const)(
    'a probe leaves its connection to the first capture of %s',
    async (mode) => {
      // A clip is what arrives after its capture: packets that come together may come before.
      const { url, accepted, count } = await startSmallCamera({ isPaced: true });
      const { probe, capture } = openCapturer();
      await probe(url);
      await probe(url);
      expect(count('DESCRIBE')).toBe(2);
      await capture(url, mode);
      expect([accepted(), count('DESCRIBE'), count('PLAY')]).toEqual([1, 2, 1]);
    },
  );

  test('a probe closes its connection after 3 s without a capture', async () => {
    const { url, accepted } = await startSmallCamera();
    const { probe, capture, passTimer } = openCapturer();
    await probe(url);
    await passTimer(3_000);
    await capture(url);
    expect(accepted()).toBe(2);
  });

  test('a probe is repeated on a new connection if the server has closed that of the last one', async () => {
    let described = 0;
    const { url, accepted } = await startSmallCamera({
      answer: ({ method }) => (method === 'DESCRIBE' && (described += 1) === 2 ? { status: 404 } : undefined),
    });
    const { probe } = openCapturer();
    await probe(url);
    await probe(url);
    expect([accepted(), described]).toEqual([2, 3]);
  });

  test.each(['DESCRIBE', 'SETUP', 'PLAY'])(
    'a session is tried again after 0.5 and 2 s if %s is answered with 503',
    async (refused) => {
      let left = 2;
      const { url } = await startSmallCamera({
        answer: ({ method }) => (method === refused && left-- > 0 ? { status: 503 } : undefined),
      });
      const { capture, passTimer } = openCapturer();
      const picture = capture(url);
      await passTimer(500);
      await passTimer(2_000);
      expect((await picture).frame.length).toBeGreaterThan(0);
      expect(left).toBe(-1);
    },
  );
});

describe('captures from a session that stays open', () => {
  test('captures of a stream use one connection, which closes when it is idle', async () => {
    const camera = await startCountedCamera('--key-frame-every', '10');
    const { capture, probe, passTimers, inputs } = openCapturer();
    const startedAt = Date.now();
    for (let check = 0; check < 3; check += 1) {
      const taken = await capture(camera.url);
      expect(color(taken)).toBe('blue');
      expect(taken.position).toEqual({ segment: null, segment_seconds: 0 });
      expect(taken.capturedAt.getTime()).toBeGreaterThanOrEqual(startedAt);
      expect(taken.capturedAt.getTime()).toBeLessThanOrEqual(Date.now());
    }
    expect(await probe(camera.url)).toEqual({ platform: 'rtsp', playbackUrl: camera.url });
    expect(camera.accepted()).toBe(1);
    // ffmpeg reads bytes from a pipe only.
    expect(inputs.every((kind) => kind === 'pipe')).toBe(true);
    passTimers();
    await capture(camera.url);
    expect(camera.accepted()).toBe(2);
  });

  test('a capture that measures key frames has their distance, and the time of its frame', async () => {
    const camera = await startCountedCamera('--key-frame-every', '10');
    const { capture } = openCapturer();
    const { keyFrameSeconds, capturedAt } = await capture(camera.url, 'frames', true);
    expect(keyFrameSeconds).toBeCloseTo(1, 1);
    expect(Date.now() - capturedAt.getTime()).toBeGreaterThan(500);
  });

  test('ten concurrent captures of frames and clips use one connection', async () => {
    const camera = await startCountedCamera();
    const { capture } = openCapturer();
    const modes = ['frames', 'clip', 'hybrid', 'frames', 'clip'] as const;
    const taken = await Promise.all([...modes, ...modes].map((mode) => capture(camera.url, mode)));
    expect(taken.map(color)).toEqual(taken.map(() => 'blue'));
    const clips = taken.flatMap(({ clip }) => clip ?? []);
    expect(clips).toHaveLength(6);
    const size = { width: 32, height: 18 };
    const frames = await createImageDecoder({ ffmpegPath }).decodeClip(
      clips[0]!,
      size,
      5,
      AbortSignal.timeout(20_000),
    );
    expect(frames.length).toBeGreaterThanOrEqual(5);
    expect(frames.length).toBeLessThanOrEqual(6);
    expect(camera.accepted()).toBe(1);
  });

  test.each([
    ['H.264 with a key frame each second', ['--key-frame-every', '10']],
    ['H.264 with a GOP of 20 s', ['--key-frame-every', '200']],
    ['H.265', ['--codec', 'h265']],
  ])('a session of %s shows a change of scene', async (_kind, flags) => {
    const camera = await startCountedCamera('--red-after', '1', ...flags);
    const { capture } = openCapturer();
    expect(color(await capture(camera.url))).toBe('blue');
    const flippedMs = camera.flipsAt!.getTime();
    // An encoder on a loaded machine is late.
    const taken = await vi.waitUntil(
      async () => {
        const each = await capture(camera.url);
        return color(each) === 'red' && each;
      },
      { timeout: 15_000, interval: 300 },
    );
    expect(taken.capturedAt.getTime()).toBeGreaterThan(flippedMs);
    expect(camera.accepted()).toBe(1);
  });

  test.each(['h264', 'h265'] as const)(
    'a capture of %s scans the key frames since the last one',
    async (codec) => {
      const camera = await startCamera(await recordRtp({ codec, seconds: 15, keyFrameEvery: 10 }), {
        isPaced: true,
      });
      const { url, accepted } = await countConnections(camera);
      const { lookBack } = openCapturer();
      const first = await lookBack(url, null);
      expect(first.scan).toMatchObject({ frames: [], leftOutSeconds: 0 });
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      const second = await lookBack(url, first.position.scan!);
      const { frames, coveredSeconds, leftOutSeconds, distanceSeconds } = second.scan!;
      const seconds = (second.capturedAt.getTime() - first.capturedAt.getTime()) / 1000;
      expect(frames.length).toBeGreaterThanOrEqual(Math.floor(seconds) - 1);
      expect(frames[0]!.at.getTime()).toBeGreaterThan(first.capturedAt.getTime());
      for (const { at, thumbnail } of frames) {
        const age = (second.capturedAt.getTime() - at.getTime()) / 1000;
        expect(readMoment(second.thumbnail) - readMoment(thumbnail)).toBeCloseTo(age, 0);
      }
      const times = [...frames.map(({ at }) => at), second.capturedAt].map((at) => at.getTime());
      const distances = times.slice(1).map((time, index) => (time - times[index]!) / 1000);
      expect(distanceSeconds).toBeCloseTo(Math.max(...distances), 2);
      expect(coveredSeconds).toBeCloseTo(seconds, 1);
      expect(leftOutSeconds).toBe(0);
      expect([...(await readPicture({ frames }, 0))!.subarray(0, 2)]).toEqual([0xff, 0xd8]);
      expect(accepted()).toBe(1);
    },
  );

  test('a stream that has no session leaves out the time since the last capture', async () => {
    const camera = await startCamera(await recordRtp({ codec: 'mjpeg' }));
    onTestFinished(() => camera.close());
    const { lookBack } = openCapturer();
    const first = await lookBack(camera.url, null);
    const second = await lookBack(camera.url, first.position.scan!);
    const seconds = (second.capturedAt.getTime() - first.capturedAt.getTime()) / 1000;
    expect(second.scan).toMatchObject({ frames: [], coveredSeconds: 0 });
    expect(second.scan?.leftOutSeconds).toBeCloseTo(seconds, 2);
  });

  test('a capture replaces a session whose connection was lost', async () => {
    const camera = await startCountedCamera('--auth', 'digest');
    const { capture } = openCapturer();
    const url = camera.url.replace('rtsp://', 'rtsp://viewer:secret@');
    await capture(url);
    camera.cut();
    // The end of the connection may be noticed later.
    await expect
      .poll(async () => ({ color: color(await capture(url)), accepted: camera.accepted() }))
      .toEqual({ color: 'blue', accepted: 2 });
  });
});

describe('recorded cameras with a session', () => {
  async function moment(codec: 'h264' | 'h265' | 'mjpeg', odd: Parameters<typeof startCamera>[1] = {}) {
    const camera = await startCamera(await recordRtp({ codec }), odd);
    onTestFinished(() => camera.close());
    const { capture, inputs } = openCapturer();
    return { moment: readMoment((await capture(camera.url)).thumbnail), inputs };
  }

  // The camera sends 3 s without pauses, with key frames at 0, 0.5, … 2.5 s.
  test.each(['h264', 'h265'] as const)('the newest key frame of a camera with %s is shown', async (codec) => {
    expect((await moment(codec)).moment).toBeCloseTo(2.5, 0);
  });

  test('a camera without parameter sets in its description sends them with its key frames', async () => {
    const describe = (text: string): string => text.replace(/^a=fmtp:.*\r\n/m, '');
    expect((await moment('h264', { describe })).moment).toBeCloseTo(2.5, 0);
  });

  test('a GOP with a lost packet is not shown', async () => {
    const { packets } = await recordRtp({ codec: 'h264' });
    const times = [...new Set(packets.filter(({ isControl }) => !isControl).map(timestamp))];
    // The first packet of the last key frame.
    const lost = packets.filter((packet) => !packet.isControl && timestamp(packet) === times[25])[0]!;
    const packet = (each: (typeof packets)[number]) => (each === lost ? null : each.bytes);
    expect((await moment('h264', { packet })).moment).toBeCloseTo(2, 0);
  });

  test('a camera with Motion JPEG is captured through the relay', async () => {
    const taken = await moment('mjpeg');
    expect(taken.moment).toBeCloseTo(0, 0);
    expect(taken.inputs).toEqual(['rtsp']);
  });

  test('the next key frame is shown if the newest one is damaged', async () => {
    const camera = await startCountedCamera();
    const { capture, inputs } = openCapturer({ damaged: 2 });
    expect(color(await capture(camera.url))).toBe('blue');
    expect(inputs).toEqual(['pipe', 'pipe', 'pipe']);
    expect(camera.accepted()).toBe(1);
  });

  test('a stream whose key frames are all damaged fails as such', async () => {
    const camera = await startCountedCamera();
    const { capture } = openCapturer({ damaged: Infinity });
    await expect(capture(camera.url)).rejects.toMatchObject({ isDamaged: true });
    expect(camera.accepted()).toBe(1);
  });
});

function timestamp({ bytes }: { bytes: Buffer }): number {
  return bytes.readUInt32BE(4);
}
