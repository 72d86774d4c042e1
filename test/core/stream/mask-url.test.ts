import { expect, test } from 'vitest';
import { maskUrl } from '../../../core/stream/mask-url.ts';
import { signedUrls } from '../../attacks/vectors/signed-urls.ts';

test.each([
  ['rtsp://viewer:secret@camera.test/yard', 'rtsp://viewer:***@camera.test/yard'],
  ['rtsp+http://viewer:secret@camera.test/yard', 'rtsp+http://viewer:***@camera.test/yard'],
  ['rtsp://viewer:sec@ret@camera.test/yard', 'rtsp://viewer:***@camera.test/yard'],
  ['rtsp://viewer:sec/ret@camera.test/yard', 'rtsp://viewer:***@camera.test/yard'],
  ['https://viewer@example.com/live', 'https://viewer@example.com/live'],
  ['https://example.com/live.m3u8?user=a@b', 'https://example.com/live.m3u8?user=***'],
  ['https://0a1b2c3d4e5f6a7b8c9d:@example.com/live', 'https://***:***@example.com/live'],
  [
    'https://example.com/live.m3u8?channel=2&token=abc&x',
    'https://example.com/live.m3u8?channel=2&token=***&***',
  ],
  ['https://example.com/live.m3u8#access_token=abc', 'https://example.com/live.m3u8#***'],
  ['https://example.com/a;jsessionid=abc/live.m3u8', 'https://example.com/a;***/live.m3u8'],
  ['https://example.com/token/abc/live.m3u8', 'https://example.com/token/***/live.m3u8'],
  ['https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=10', 'https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=10'],
  [
    'rtsp://camera.test/cam/realmonitor?channel=1&subtype=0',
    'rtsp://camera.test/cam/realmonitor?channel=1&subtype=0',
  ],
  ['rtsp://[2001:db8::1]:554/Streaming/Channels/101', 'rtsp://[2001:db8::1]:554/Streaming/Channels/101'],
  [
    'https://cdn.test/Harbour-Camera-2-North-Gate/index.m3u8',
    'https://cdn.test/Harbour-Camera-2-North-Gate/index.m3u8',
  ],
  [
    'https://cdn.test/chunklist_w1234567890_b2500000.m3u8',
    'https://cdn.test/chunklist_w1234567890_b2500000.m3u8',
  ],
  ['http://cdn.test/%E6%B8%AF/live.m3u8', 'http://cdn.test/%E6%B8%AF/live.m3u8'],
  ['https://example.com/live.m3u8', 'https://example.com/live.m3u8'],
  ['https://www.youtube.com/@NASA/live', 'https://www.youtube.com/@NASA/live'],
  ['https://viewer:secret@example.com/@NASA/live', 'https://viewer:***@example.com/@NASA/live'],
  ['no url', 'no url'],
])('maskUrl shows %s as %s', (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});

test.each([
  'http:\\\\u:secret@host/x',
  'http:u:secret@host/x',
  'http:/u:secret@host/x',
  ' rtsp://u:secret@host',
  'RTSP://u:secret@host',
])('maskUrl never shows the password of %s', (url) => {
  expect(maskUrl(url)).not.toContain('secret');
});

test.each(signedUrls)(
  'maskUrl hides the secrets of $kind and masks a masked URL to itself',
  ({ url, secrets }) => {
    const masked = maskUrl(url);
    for (const secret of secrets) expect(masked).not.toContain(secret);
    expect(masked).toContain(new URL(url).host);
    expect(maskUrl(masked)).toBe(masked);
  },
);
