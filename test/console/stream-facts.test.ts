import { expect, test } from 'vitest';
import { toOfflineTitle, toStreamFacts } from '../../console/try/stream-facts.ts';

test.each([
  [{ platform: 'hls' }, ['HLS']],
  [
    { platform: 'hls', picture_seconds: 25 },
    ['HLS', 'a picture every 25 s or more: set the key frames of the camera to 2 s'],
  ],
  [
    { platform: 'rtsp', picture_seconds: 11 },
    ['RTSP', 'a key frame every 11 s or more: set the key frames of the camera to 2 s'],
  ],
  [{ platform: 'mjpeg' }, ['Motion JPEG']],
  [{ platform: 'jpeg', picture_seconds: 600 }, ['JPEG pictures', 'a picture every 600 s or more']],
  [{ platform: 'twitch', channel: 'somebody', viewer_count: 7 }, ['Twitch', 'somebody', '7 viewers']],
] as const)('the stream %j is described as %j', (stream, facts) => {
  expect(toStreamFacts({ is_live: true, ...stream })).toEqual(facts);
});

test('a stream that is not live is named by its platform, and not by the kind of camera that its URL suggests', () => {
  expect(toOfflineTitle({ platform: 'twitch' })).toBe('Not live · Twitch');
  expect(toOfflineTitle({ platform: 'hls' })).toBe('Not live');
});
