import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { damagedStream } from '../../../../adapters/media/ffmpeg/errors.ts';
import { locateFfmpeg } from '../../../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../../../../adapters/media/rtsp/capture-rtsp.ts';
import { startRtspServer } from '../../../support/rtsp/live-camera.ts';
import { thumbnail, type Capture, type CaptureRequest } from '../../../../core/records/capture.ts';
import { InvalidUrlError, NotLiveError, StreamFetchError } from '../../../../core/errors.ts';
import type { StreamCapturer } from '../../../../core/ports/stream-capturer.ts';
import { startCamera } from '../../../support/rtsp/camera.ts';
import { recordRtp } from '../../../support/rtsp/rtp-recording.ts';
import { startGstRtspServer, type GstRtspServer } from '../../../support/rtsp/gst-rtsp-server.ts';
import { liveSdp, startScriptedServer } from '../../../support/rtsp/scripted-server.ts';
import { folderOfFile } from '../../../support/temporary-folder.ts';

const opened = ['127.0.0.1/32'];
const tempDir = folderOfFile();
let ffmpegPath: string;
beforeAll(async () => {
  ffmpegPath = (await locateFfmpeg({ env: process.env })).path;
});

function capturer(allowRanges: string[] = opened): StreamCapturer {
  const guard = createEgressGuard({ allowRanges });
  const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir });
  return createRtspCapturer({ guard, ffmpeg, now: () => new Date(), answerTimeoutMs: 5_000 });
}

function capture(
  url: string,
  wanted: Partial<CaptureRequest> = {},
  allowRanges?: string[],
): Promise<Capture> {
  const request = {
    url,
    mode: 'frames',
    clipSeconds: 1,
    caller: 'ada',
    resolveAgain: false,
    ...wanted,
  } as const;
  return capturer(allowRanges).capture(request, new AbortController().signal);
}

test('a stream that ends behind a damaged key frame fails as damaged', async () => {
  const recording = await recordRtp({ seconds: 1, keyFrameEvery: 100 });
  const camera = await startCamera(recording, { closesAfter: recording.packets.length - 1 });
  onTestFinished(() => camera.close());
  const fail = async () => Promise.reject(damagedStream('A hole'));
  const guard = createEgressGuard({ allowRanges: opened });
  const broken = createRtspCapturer({ guard, ffmpeg: { run: fail, runAll: fail }, now: () => new Date() });
  const request = {
    url: camera.url,
    mode: 'frames',
    clipSeconds: 1,
    caller: 'ada',
    resolveAgain: false,
  } as const;
  const { signal } = new AbortController();
  await expect(broken.capture(request, signal)).rejects.toMatchObject({ isDamaged: true });
});

async function gstreamer(...flags: string[]): Promise<GstRtspServer> {
  const server = await startGstRtspServer(...flags);
  onTestFinished(() => server.close());
  return server;
}

/** Color of the middle pixel: GStreamer's test video is blue, and red after the flip. */
function color({ thumbnail: picture }: Capture): 'blue' | 'red' | 'other' {
  const pixels = thumbnail.width * thumbnail.height;
  const middle = (thumbnail.width / 2) * (thumbnail.height / 4) + thumbnail.width / 4;
  const [blue, red] = [picture[pixels + middle]!, picture[pixels * 1.25 + middle]!];
  if (blue > 180 && red < 140) return 'blue';
  return red > 180 && blue < 140 ? 'red' : 'other';
}

function expectPictures(taken: Capture, mode: CaptureRequest['mode'], since: number): void {
  expect(Buffer.from(taken.frame).toString('hex', 0, 3)).toBe('ffd8ff');
  expect(taken.thumbnail).toHaveLength(thumbnail.bytes);
  expect(taken.position).toEqual({ segment: null, segment_seconds: 0 });
  expect(taken.capturedAt.getTime()).toBeGreaterThanOrEqual(since);
  expect(taken.capturedAt.getTime()).toBeLessThanOrEqual(Date.now());
  if (mode === 'frames') expect(taken).not.toHaveProperty('clip');
  else expect(Buffer.from(taken.clip!).toString('latin1', 4, 8)).toBe('ftyp');
}

describe('RTSP stream of GStreamer', () => {
  test.each(['frames', 'clip', 'hybrid'] as const)('a stream of GStreamer is captured (%s)', async (mode) => {
    const since = Date.now();
    const { url } = await gstreamer('--audio');
    const taken = await capture(url, { mode });
    expectPictures(taken, mode, since);
    expect(color(taken)).toBe('blue');
  });

  test.each(['basic', 'digest'])('a stream with %s authentication is captured', async (auth) => {
    const { url } = await gstreamer('--auth', auth);
    expect(color(await capture(url.replace('rtsp://', 'rtsp://viewer:secret@')))).toBe('blue');
    await expect(capture(url.replace('rtsp://', 'rtsp://viewer:wrong@'))).rejects.toBeInstanceOf(
      StreamFetchError,
    );
  });

  test('a stream in H.265 is captured', async () => {
    const { url } = await gstreamer('--codec', 'h265');
    expect(color(await capture(url))).toBe('blue');
  });

  test('a capture waits for a key frame that is sent every 2 s', async () => {
    const { url } = await gstreamer('--key-frame-every', '20', '--auth', 'digest');
    const viewer = url.replace('rtsp://', 'rtsp://viewer:secret@');
    // The first viewer starts the encoder and keeps it running; the second joins between its key frames.
    const first = capture(viewer, { mode: 'clip', clipSeconds: 2 });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect((await Promise.all([first, capture(viewer)])).map(color)).toEqual(['blue', 'blue']);
  });

  test('a capture shows a change of scene', async () => {
    const { url, flipsAt } = await gstreamer('--red-after', '1.5');
    expect(color(await capture(url))).toBe('blue');
    await new Promise((resolve) => setTimeout(resolve, flipsAt!.getTime() - Date.now() + 500));
    expect(color(await capture(url))).toBe('red');
  });

  test('a stream that offers only UDP, which would bypass the guard, is rejected', async () => {
    const { url } = await gstreamer('--udp-only');
    await expect(capture(url)).rejects.toThrow(
      expect.objectContaining({ remediation: expect.stringContaining('TCP') }),
    );
  });

  test('a stream outside the allowed ranges is not connected to', async () => {
    const { url } = await gstreamer();
    await expect(capture(url, {}, [])).rejects.toBeInstanceOf(InvalidUrlError);
  });

  test('a probe reports a live stream without credentials', async () => {
    const { url } = await gstreamer('--auth', 'digest');
    const probe = await capturer().probe(
      url.replace('rtsp://', 'rtsp://viewer:secret@'),
      new AbortController().signal,
      'ada',
    );
    expect(probe).toEqual({ platform: 'rtsp', playbackUrl: url });
  });
});

describe('RTSP stream of the camera of tests', () => {
  const picture = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25'];

  async function captureOwn(options: { range?: string } = {}): Promise<string> {
    const server = await startRtspServer({
      ffmpegPath,
      inputArgs: picture,
      path: '/live',
      keyFrameEvery: 8,
      ...options,
    });
    onTestFinished(() => server.close());
    return server.url;
  }

  test.each(['frames', 'clip', 'hybrid'] as const)(
    'a stream of the camera is captured (%s) by concurrent viewers',
    async (mode) => {
      const since = Date.now();
      const url = await captureOwn();
      const taken = await Promise.all([capture(url, { mode }), capture(url, { mode })]);
      for (const one of taken) expectPictures(one, mode, since);
    },
  );

  test('a stream with a range that ends is not live', async () => {
    const url = await captureOwn({ range: 'npt=0-20' });
    await expect(capture(url)).rejects.toBeInstanceOf(NotLiveError);
    await expect(capturer().probe(url, new AbortController().signal, 'ada')).rejects.toBeInstanceOf(
      NotLiveError,
    );
  });

  test('the camera of tests has no stream at another path', async () => {
    const url = await captureOwn();
    await expect(capture(`${url}r`)).rejects.toBeInstanceOf(StreamFetchError);
  });

  test('the camera of tests fails to start without ffmpeg', async () => {
    await expect(
      startRtspServer({ ffmpegPath: '/does/not/exist', inputArgs: [], path: '/live' }),
    ).rejects.toThrow('ENOENT');
  });

  test('the camera of tests disconnects its viewers when its ffmpeg ends', async () => {
    const inputArgs = ['-f', 'lavfi', '-i', 'testsrc2=size=64x64:rate=5:duration=0.1'];
    const server = await startRtspServer({ ffmpegPath, inputArgs, path: '/live' });
    onTestFinished(() => server.close());
    await server.ended;
    await expect(capture(server.url)).rejects.toBeInstanceOf(StreamFetchError);
  });
});

describe('failed RTSP capture', () => {
  test('a capture fails with the message of the interface if the server closes before a frame', async () => {
    const server = await startScriptedServer(({ method }, _url, socket) => {
      if (method === 'PLAY') setTimeout(() => socket.destroy(), 50);
      const headers = { Session: '1', Transport: 'RTP/AVP/TCP;interleaved=0-1' };
      return method === 'DESCRIBE' ? { status: 200, body: liveSdp } : { status: 200, headers };
    });
    onTestFinished(() => server.close());
    await expect(capture(server.url)).rejects.toThrow('Failed to capture frame from stream');
    await expect(capture(server.url, { mode: 'clip' })).rejects.toThrow(
      'Failed to capture video clip from stream',
    );
  });

  test('a capture ends with the abort reason and disconnects', async () => {
    const server = await startScriptedServer(({ method }) =>
      method === 'DESCRIBE'
        ? { status: 200, body: liveSdp }
        : { status: 200, headers: { Transport: 'RTP/AVP/TCP' } },
    );
    onTestFinished(() => server.close());
    const controller = new AbortController();
    const request = {
      url: server.url,
      mode: 'frames',
      clipSeconds: 1,
      caller: 'ada',
      resolveAgain: false,
    } as const;
    const taken = capturer().capture(request, controller.signal);
    await expect.poll(() => server.requests.at(-1)?.method, { interval: 10, timeout: 10_000 }).toBe('PLAY');
    controller.abort(new Error('job was cancelled'));
    await expect(taken).rejects.toThrow('job was cancelled');
  });
});
