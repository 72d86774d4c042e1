import { expect, test } from 'vitest';
import { mintKey } from '../../core/api-key.ts';
import { redact, redactedLog } from '../../core/redact.ts';
import { createCollectedLog } from '../adapters/embedded/collected-log.ts';
import { createWorld } from '../support/world.ts';

test.each([
  ['rtsp://viewer:s3cret@camera.test/yard', 'rtsp://***@camera.test/yard'],
  ['opening "https://me:p@ss:w@rd@host/a" failed', 'opening "https://***@host/a" failed'],
  ['https://token@host/live.m3u8', 'https://***@host/live.m3u8'],
  ['from rtsp://a:b@c/1 to RTSP://d:e@f/2', 'from rtsp://***@c/1 to RTSP://***@f/2'],
  ['https://cdn.test/a.ts?Policy=x&Signature=abc~1&n=2', 'https://cdn.test/a.ts?Policy=x&Signature=***&n=2'],
  ['/live?access_token=abc.def#t', '/live?access_token=***#t'],
  ['https://hook.test/?api-key=1&apikey=2', 'https://hook.test/?api-key=***&apikey=***'],
  ['Authorization: Bearer eyJhbGciOi.J9', 'Authorization: Bearer ***'],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic ***'],
  ['signed with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=', 'signed with whsec_***'],
])('%s is logged as %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test.each([
  'Tick committed tick=3 outcome=looked',
  'mail to harbour@example.com about https://example.com/@user/live',
  'https://example.com/live.m3u8?quality=720p&t=10',
  'key wp_4f9aB-_x of harbour',
])('%s stays as it is', (text) => {
  expect(redact(text)).toBe(text);
});

test('a key of ours is never logged, wherever it stands', () => {
  const world = createWorld();
  const { text } = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  world.close();
  expect(redact(`key=${text}, and ${text}!`)).toBe('key=wp_***, and wp_***!');
});

test('a log is redacted in its message and in every field of text', () => {
  const collected = createCollectedLog();
  const log = redactedLog(collected);
  const url = 'rtsp://viewer:s3cret@camera.test/yard';
  for (const level of ['debug', 'info', 'warning', 'error'] as const)
    log[level](`at ${url}`, { url, tick: 1 });
  expect(collected.entries).toHaveLength(4);
  expect(JSON.stringify(collected.entries)).not.toContain('s3cret');
  expect(collected.entries[0]?.fields).toEqual({ url: 'rtsp://***@camera.test/yard', tick: 1 });
});
