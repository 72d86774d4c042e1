import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../../support/service-process.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';

/** Direct checks of a started service on a live stream. */

const dataDir = folderOfFile();
let service: ServiceProcess;
let stream: LoopedStream;
const recording = createServer((request, response) => {
  response.setHeader('content-type', 'application/vnd.apple.mpegurl');
  if (request.url === '/gone.m3u8') response.writeHead(404);
  response.end('#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n');
});
const recordingUrl = (path: string) => `http://127.0.0.1:${(recording.address() as AddressInfo).port}${path}`;

beforeAll(async () => {
  stream = await startLoop('color=red:size=320x180:rate=5');
  await once(recording.listen(0, '127.0.0.1'), 'listening');
  service = await startService(dataDir, { WATCHPOST_SYNC_PER_MINUTE: '20' });
});

afterAll(async () => {
  recording.close();
  await stream.close();
  await service.kill('SIGTERM');
});

describe('a direct check', () => {
  test.each(['frames', 'clip', 'hybrid'])(
    'a check of a live stream in mode %s returns its verdict',
    async (mode) => {
      const { status, body } = await service.call('POST', '/check-once', {
        stream_url: stream.url,
        condition: 'The picture is mostly red',
        input_mode: mode,
        clip_duration_seconds: 1,
        include_frame: true,
      });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body).toMatchObject({ triggered: true, explanation: expect.stringMatching(/red/i) });
      expect(body.latency_ms).toBeGreaterThan(0);

      const { body: analysed } = await service.call('POST', '/analyze-frame', {
        frame_b64: body.frame_b64,
        question: 'Is the picture red?',
      });
      expect(analysed).toMatchObject({
        triggered: true,
        answer: expect.stringMatching(/^Yes/),
        frame_b64: null,
      });
    },
  );

  test('a check of a recording returns NOT_LIVESTREAM, and a check of a missing stream is offline', async () => {
    const look = async (url: string) =>
      (await service.call('POST', '/check-once', { stream_url: url, condition: 'anything' })).body.error;
    expect(await look(recordingUrl('/vod.m3u8'))).toMatchObject({
      code: 'NOT_LIVESTREAM',
      message: 'URL is not a live stream',
    });
    expect(await look(recordingUrl('/gone.m3u8'))).toMatchObject({
      code: 'NOT_LIVESTREAM',
      message: 'Stream is offline',
    });
  });
});

describe('validation', () => {
  const validate = (url: string) => service.call('POST', '/streams/validate', { stream_url: url });

  test('a validation detects a live stream and hides its credentials', async () => {
    const { body } = await validate(stream.url.replace('//', '//viewer:secret@'));
    expect(body).toMatchObject({ is_live: true, platform: 'hls', parsed_url: stream.url });
  });

  test.each(['/vod.m3u8', '/gone.m3u8'])(
    'a validation of a stream that is not live returns a hint: %s',
    async (path) => {
      const { status, body } = await validate(recordingUrl(path));
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { is_live: false, platform: 'hls' },
      });
      expect(body.error_hint).not.toBe('');
    },
  );

  test.each([
    ['nonsense', 'INVALID_URL'],
    ['ftp://example.com/live', 'INVALID_URL'],
    ['http://169.254.169.254/x.m3u8', 'INVALID_URL'],
    ['rtsp://127.0.0.1:9/live', 'STREAM_FETCH_FAILED'],
    ['http://127.0.0.1:9/live.m3u8', 'STREAM_FETCH_FAILED'],
  ])('a validation of %s returns %s', async (url, code) => {
    const { status, body } = await validate(url);
    expect({ status, code: body.error?.code }).toEqual({ status: 400, code });
  });
});

test('the setting limits all of these calls together', async () => {
  const statuses: number[] = [];
  // A refused call is answered after a second.
  while (statuses.length < 21 && statuses.at(-1) !== 429)
    statuses.push((await service.call('POST', '/streams/validate', { stream_url: 'nonsense' })).status);
  expect(statuses.at(-1)).toBe(429);
});
