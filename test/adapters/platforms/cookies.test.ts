import { expect, test } from 'vitest';
import { cookieValue, readCookies } from '../../../adapters/platforms/cookies.ts';

const table = [
  '# Netscape HTTP Cookie File',
  '',
  '.youtube.com\tTRUE\t/\tTRUE\t1795000000\tSAPISID\tabc/def',
  '#HttpOnly_.youtube.com\tTRUE\t/\tTRUE\t1795000000\tLOGIN_INFO\tAFm=:x',
  '.google.com\tTRUE\t/\tTRUE\t1795000000\tSID\telsewhere',
  'notyoutube.com\tFALSE\t/\tFALSE\t0\tname\telsewhere',
  'www.youtube.com\tFALSE\t/\tFALSE\t0\tempty\t',
  '# youtube.com\tFALSE\t/\tFALSE\t0\tcomment\tx',
];

test.each(['\n', '\r\n'])(
  'cookies of one site are read from a file of several sites (line end %j)',
  (lineEnd) => {
    expect(readCookies(table.join(lineEnd), 'youtube.com')).toBe(
      'SAPISID=abc/def; LOGIN_INFO=AFm=:x; empty=',
    );
  },
);

test.each([
  ['SAPISID=abc; LOGIN_INFO=def\n', 'SAPISID=abc; LOGIN_INFO=def'],
  ['Cookie: SAPISID=abc;LOGIN_INFO=def', 'SAPISID=abc; LOGIN_INFO=def'],
  ['# from the browser\nauth-token=x', 'auth-token=x'],
])('cookies are read from a header: %j', (text, header) => {
  expect(readCookies(text, 'youtube.com')).toBe(header);
});

test.each(['', '\n', '{"cookies":[]}', '.google.com\tTRUE\t/\tTRUE\t0\tSID\tx', 'a=b\u0001c'])(
  'text without cookies of the site returns null: %j',
  (text) => {
    expect(readCookies(text, 'youtube.com')).toBeNull();
  },
);

test('a cookie is found by its whole name', () => {
  expect(cookieValue('xauth-token=no; auth-token=a=b', 'auth-token')).toBe('a=b');
  expect(cookieValue('auth-token2=x', 'auth-token')).toBeNull();
  expect(cookieValue(null, 'auth-token')).toBeNull();
});
