import { beforeEach, expect, test } from 'vitest';
import { NotLiveError, StreamFetchError } from '../../../../core/errors.ts';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { createWorld, type World } from '../../../support/world.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
});

const validate = (url: string) => call('POST', '/streams/validate', { stream_url: url });

test('a validation hides the credentials of an address', async () => {
  const { body } = await validate('https://viewer:secret@example.com/live.m3u8');
  expect(body.parsed_url).toContain('example.com/live.m3u8');
  expect(JSON.stringify(body)).not.toContain('secret');
});

test.each([true, false])(
  'a validation returns the details of the platform, live or not: %j',
  async (isLive) => {
    const details = {
      streamId: 'abc',
      title: 'Harbour live',
      channel: 'Harbour Cam',
      thumbnailUrl: 'https://i.ytimg.com/vi/abc/live.jpg',
      viewers: 1234,
    };
    world.c.streams.probe = async (playbackUrl) => {
      if (!isLive) throw new NotLiveError('Give a live URL.', 'Stream is offline', { details });
      return { platform: 'youtube', playbackUrl, details };
    };
    const { body } = await validate('https://youtu.be/abc');
    expect(body).toEqual({
      is_live: isLive,
      platform: 'youtube',
      stream_id: 'abc',
      title: 'Harbour live',
      channel: 'Harbour Cam',
      thumbnail_url: 'https://i.ytimg.com/vi/abc/live.jpg',
      viewer_count: 1234,
      ...(isLive
        ? { parsed_url: 'https://youtu.be/abc' }
        : { error_hint: 'Stream is offline. Give a live URL.' }),
    });
  },
);

test('a frame is included only if it was requested and captured, else the reason', async () => {
  const withPicture = () =>
    call('POST', '/streams/validate', { stream_url: 'https://example.com/live.m3u8', include_frame: true });
  expect((await validate('https://example.com/live.m3u8')).body).not.toHaveProperty('frame_b64');
  expect(Buffer.from((await withPicture()).body.frame_b64, 'base64').length).toBeGreaterThan(0);

  world.script.captures.push(new StreamFetchError('No key frame came.'));
  const { status, body } = await withPicture();
  expect({ status, live: body.is_live }).toEqual({ status: 200, live: true });
  expect(body).not.toHaveProperty('frame_b64');
  expect(body.error_hint).toBe('Failed to fetch stream. No key frame came.');
});

test.each([
  [{ position: { segment: '1:a', segment_seconds: 25.2 } }, 25],
  [{ position: { segment: '1:a', segment_seconds: 6 } }, undefined],
  [{ position: { segment: 'a', segment_seconds: 60 }, isIntervalAssumed: true }, undefined],
  [{ position: { segment: '1:a', segment_seconds: 2 }, keyFrameSeconds: 12.4 }, 12],
  [{ position: { segment: null, segment_seconds: 0 }, keyFrameSeconds: 25.2 }, 25],
  [{ position: { segment: null, segment_seconds: 0 }, keyFrameSeconds: 2 }, undefined],
  [{ position: { segment: null, segment_seconds: 0 } }, undefined],
])('a capture %j has picture_seconds %s', async (capture, expected) => {
  world.script.captures.push(capture);
  const { body } = await call('POST', '/streams/validate', {
    stream_url: 'https://example.com/live.m3u8',
    include_frame: true,
  });
  expect(body.picture_seconds).toBe(expected);
});

test.each([
  ['https://example.com/vod.m3u8', 'hls'],
  ['rtsp://camera.test/recording', 'rtsp'],
  ['https://www.youtube.com/watch?v=abc', 'youtube'],
  ['https://youtu.be/abc', 'youtube'],
  ['https://m.twitch.tv/somebody', 'twitch'],
  ['https://nottwitch.tv/live.m3u8', 'hls'],
])('the URL %s of a stream that is not live returns a hint', async (url, platform) => {
  world.script.probe = new NotLiveError('Give a live URL.', 'Stream is offline');
  expect(await validate(url)).toMatchObject({
    status: 200,
    body: {
      is_live: false,
      platform,
      error_hint: 'Stream is offline. Give a live URL.',
    },
  });
});
