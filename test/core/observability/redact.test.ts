import { expect, test } from 'vitest';
import { mintKey } from '../../../core/access/api-key.ts';
import { redact, redactedLog } from '../../../core/observability/redact.ts';
import { createCollectedLog } from '../../adapters/embedded/log/collected-log.ts';
import { createWorld } from '../../support/world.ts';
import { signedUrls } from '../../attacks/vectors/signed-urls.ts';

test.each([
  ['rtsp://viewer:s3cret@camera.test/yard', 'rtsp://camera.test/***'],
  ['opening "https://me:p@ss:w@rd@host/a" failed', 'opening "https://host/***" failed'],
  ['https://token@host/live.m3u8', 'https://host/***'],
  ['rtsp+https://viewer:s3cret@camera.test/yard', 'rtsp+https://camera.test/***'],
  ['from rtsp://a:b@c/1 to RTSP://d:e@f/2', 'from rtsp://c/*** to RTSP://f/***'],
  ['rtsp://viewer:hun/ter2@camera.test/', 'rtsp://***/***'],
  ['rtsp://viewer:12/3@camera.test/', 'rtsp://***/***'],
  ['rtsp://viewer:a"b@camera.test/yard', 'rtsp://camera.test/***'],
  ['{"url":"https:\\/\\/cdn.test\\/secret"}', '{"url":"https:\\/\\/cdn.test/***"}'],
  ['https://cdn.test/a.ts?Policy=x&Signature=abc~1&n=2', 'https://cdn.test/***'],
  [
    'https://[2001:db8::1]:8443/a and https://cdn.test.',
    'https://[2001:db8::1]:8443/*** and https://cdn.test.',
  ],
  ['/live?access_token=abc.def#t', '/live?access_token=***#t'],
  ['/live?hdnts=exp=1~hmac=abc&sid=1', '/live?hdnts=***&sid=***'],
  ['to https%3A%2F%2Fcdn.test%2Fsecret', 'to ***'],
  ['viewer:s3cret@camera.test is down', '***@camera.test is down'],
  ['the token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln is over', 'the token *** is over'],
  ['Authorization: Bearer eyJhbGciOi.J9', 'Authorization: Bearer ***'],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic ***'],
  [
    'no bot123456789:AAE_abcdefghijklmnopqrstuvwxyz12345 at https://api.telegram.org/bot1/sendPhoto',
    'no *** at https://api.telegram.org/***',
  ],
  ['signed with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=', 'signed with whsec_***'],
])('the text %s is logged as %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test.each(signedUrls)('the log has nothing of a URL ($kind) but its host', ({ url }) => {
  const { protocol, host } = new URL(url);
  expect(redact(`connect ECONNREFUSED at "${url}"`)).toBe(
    `connect ECONNREFUSED at "${protocol}//${host}/***"`,
  );
});

test.each([
  'Tick committed tick=3 outcome=judged',
  'mail to harbour@example.com about https://example.com and rtsp://192.168.1.20:554/',
  'at open (file:///opt/watchpost/adapters/http/app.ts:57:12) of node_modules/@scope/package',
  'getaddrinfo ENOTFOUND camera.test code=ENOTFOUND',
  'key wp_4f9aB-_x of harbour',
])('the text %s is logged unchanged', (text) => {
  expect(redact(text)).toBe(text);
});

test('an API key is never logged, at any position', () => {
  const world = createWorld();
  const { text } = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  expect(redact(`the key ${text}, and ${text}!`)).toBe('the key wp_***, and wp_***!');
  expect(redact(`key=${text}`)).toBe('key=***');
});

test('a redacted log masks its message and every text field', () => {
  const collected = createCollectedLog();
  const log = redactedLog(collected);
  const url = 'rtsp://viewer:s3cret@camera.test/yard';
  for (const level of ['debug', 'info', 'warning', 'error'] as const)
    log[level](`at ${url}`, { url, tick: 1 });
  expect(collected.entries).toHaveLength(4);
  expect(JSON.stringify(collected.entries)).not.toContain('s3cret');
  expect(collected.entries[0]?.fields).toEqual({ url: 'rtsp://camera.test/***', tick: 1 });
});
