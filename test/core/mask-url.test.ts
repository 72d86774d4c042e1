import { describe, expect, test } from 'vitest';
import { maskUrl } from '../../core/mask-url.ts';

describe('a masked URL', () => {
  test.each([
    ['rtsp://viewer:secret@camera.test/yard', 'rtsp://viewer:***@camera.test/yard'],
    ['rtsp://viewer:sec@ret@camera.test/yard', 'rtsp://viewer:***@camera.test/yard'],
    ['rtsp://viewer:sec/ret@camera.test/yard', 'rtsp://viewer:***@camera.test/yard'],
    ['https://viewer@example.com/live', 'https://viewer@example.com/live'],
    ['https://example.com/live.m3u8?user=a@b', 'https://example.com/live.m3u8?user=a@b'],
    ['https://example.com/live.m3u8', 'https://example.com/live.m3u8'],
    ['https://www.youtube.com/@NASA/live', 'https://www.youtube.com/@NASA/live'],
    ['https://viewer:secret@example.com/@NASA/live', 'https://viewer:***@example.com/@NASA/live'],
    ['no url', 'no url'],
  ])('of %s is %s', (url, masked) => {
    expect(maskUrl(url)).toBe(masked);
  });

  test.each([
    'http:\\\\u:secret@host/x',
    'http:u:secret@host/x',
    'http:/u:secret@host/x',
    ' rtsp://u:secret@host',
    'RTSP://u:secret@host',
  ])('never shows the password of %s', (url) => {
    expect(maskUrl(url)).not.toContain('secret');
  });
});
