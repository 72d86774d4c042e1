import { expect, test } from 'vitest';
import { detectPlatform, isCamera } from '../../../core/records/platform.ts';

test.each([
  ['RTSP+https://camera.example/a.ts', 'rtsp', true],
  ['rtsp://youtube.com/live', 'rtsp', true],
  ['https://www.YouTube.com./watch?v=a.jpg', 'youtube', false],
  ['https://m.twitch.tv/a.ts', 'twitch', false],
  ['https://nottwitch.tv/a.TS?b=1', 'mpegts', true],
  ['http://camera.example/a.JPEG', 'jpeg', true],
  ['http://camera.example/a.mjpg#b', 'mjpeg', true],
  ['https://camera.example/a.m3u8?b=.jpg', 'hls', true],
  ['no URL.jpg', 'hls', true],
])('the source of %s is %s by its scheme, host or extension', (url, platform, camera) => {
  expect(detectPlatform(url)).toBe(platform);
  expect(isCamera(url)).toBe(camera);
});
