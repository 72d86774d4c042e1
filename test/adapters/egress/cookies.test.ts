import { expect, test } from 'vitest';
import { createCookieJar, createCookieJars } from '../../../adapters/egress/cookies.ts';

const now = () => new Date('2026-11-20T12:00:00Z');
const playlist = new URL('https://live.example.com/cam/list.m3u8');

function sentTo(url: string, ...headers: string[]): string | undefined {
  const jar = createCookieJar(now);
  jar.take(playlist, headers);
  return jar.header(new URL(url));
}

test.each<[string, string, string[], string | undefined]>([
  ['the same host', 'https://live.example.com/cam/1.ts', ['a=1', 'b=x=y; HttpOnly'], 'a=1; b=x=y'],
  ['another host', 'https://cdn.example.com/cam/1.ts', ['a=1'], undefined],
  ['a host of its domain', 'https://cdn.example.com/cam/1.ts', ['a=1; Domain=.example.com'], 'a=1'],
  ['no host of a foreign domain', 'https://other.test/1.ts', ['a=1; Domain=other.test'], undefined],
  ['its path', 'https://live.example.com/cam/1.ts', ['a=1; Path=/cam', 'b=2; Path=/ca'], 'a=1'],
  ['no folder beside that of its response', 'https://live.example.com/camera/1.ts', ['a=1'], undefined],
  ['TLS only', 'http://live.example.com/cam/1.ts', ['a=1; Secure', 'b=2'], 'b=2'],
  ['its last value', 'https://live.example.com/cam/1.ts', ['a=1', 'a=2'], 'a=2'],
  ['nobody after its deletion', 'https://live.example.com/cam/1.ts', ['a=1', 'a=; Max-Age=0'], undefined],
  [
    'nobody after its expiry',
    'https://live.example.com/cam/1.ts',
    ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT'],
    undefined,
  ],
  [
    'nobody with bytes that a header cannot have',
    'https://live.example.com/cam/1.ts',
    ['a=\u00e9', '=1', ''],
    undefined,
  ],
])('a cookie is sent to %s', (_host, url, headers, cookie) => {
  expect(sentTo(url, ...headers)).toBe(cookie);
});

test('an address has no subdomains', () => {
  const jar = createCookieJar(now);
  jar.take(new URL('http://10.0.0.1/'), ['a=1; Domain=0.0.1', 'b=2; Domain=10.0.0.1']);
  expect(jar.header(new URL('http://20.0.0.1/'))).toBeUndefined();
  expect(jar.header(new URL('http://10.0.0.1/'))).toBe('b=2');
});

test('a jar holds the newest 20 cookies of at most 4 kB', () => {
  const headers = Array.from({ length: 50 }, (_, index) => `c${index}=1`);
  expect(
    sentTo('https://live.example.com/cam/1.ts', ...headers, `long=${'x'.repeat(5000)}`)?.split('; '),
  ).toEqual(headers.slice(-20));
});

test('each stream of each caller has its own cookies', () => {
  const jarOf = createCookieJars({ max: 2, now });
  jarOf('ada', 'https://live.example.com/a').take(playlist, ['a=1']);
  expect(jarOf('ada', 'https://live.example.com/a').header(playlist)).toBe('a=1');
  expect(jarOf('ada', 'https://live.example.com/b').header(playlist)).toBeUndefined();
  expect(jarOf('bob', 'https://live.example.com/a').header(playlist)).toBeUndefined();
});
