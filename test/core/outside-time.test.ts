import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseHttpDate, parseIsoTime, parseRetryAfter } from '../../core/outside-time.ts';

const now = new Date('2026-11-27T12:00:00Z');

test.each([
  ['40', 40],
  ['40.5', 40.5],
  [' 40, 2', 40],
  ['40; soon', 40],
  ['2s', 2],
  ['120 seconds', 120],
  ['"30"', 30],
  ['2026-11-27T12:01:00Z', 60],
  ['0', 0],
  ['999999999999', 999_999_999_999],
  ['Fri, 27 Nov 2026 12:01:00 GMT', 60],
  ['Fri, 27 Nov 2026 12:01:00 GMT, Fri, 27 Nov 2026 12:09:00 GMT', 60],
  ['Friday, 27-Nov-26 12:01:00 GMT', 60],
  ['Fri Nov 27 12:01:00 2026', 60],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
  ['-5', undefined],
  ['1e9', undefined],
  ['2040', 2040],
  ['tomorrow', undefined],
  ['May 5', undefined],
  ['', undefined],
  ['9'.repeat(400), Infinity],
])('Retry-After of %s', (value, seconds) => {
  expect(parseRetryAfter(value, now)).toBe(seconds);
});

test('an HTTP date has one of its three forms, and no other text is one', () => {
  const ms = Date.UTC(1994, 10, 6, 8, 49, 37);
  const forms = [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Sun, 06-Nov-1994 08:49:37 GMT',
  ];
  expect(forms.map(parseHttpDate)).toEqual(forms.map(() => ms));
  for (const text of ['40.5', '1', '2026', 'Sun, 06 Foo 1994 08:49:37 GMT', `${' '.repeat(1e6)}1`, ''])
    expect(parseHttpDate(text)).toBeUndefined();
});

test('a time of ISO 8601 has a date and a time of day', () => {
  expect(parseIsoTime('2026-11-27T12:00:00.25+0130')).toBe(Date.UTC(2026, 10, 27, 10, 30, 0, 250));
  expect(parseIsoTime('2026-11-27T12:00:00')).toBe(now.getTime());
  expect(parseIsoTime('2026-11-27T12:00:00.123456789Z')).toBe(now.getTime() + 123);
  for (const text of ['40.5', '2026', '2026-11-27', '+275760-09-13T00:00:00Z', '2026-13-45T12:00:00Z', ''])
    expect(parseIsoTime(text)).toBeUndefined();
});

/** Folders whose code reads what strangers send. */
const folders = ['egress', 'media', 'onvif', 'platforms', 'recordings', 'vision', 'destinations', 'mcp'];
/** Arguments that are numbers of milliseconds, or times of the service. */
const isOwn =
  /^(?:$|[\w.]*Ms\)|now\b|clockMs|Date\.parse\(from\)|date\)|from\)|to\)|\w+\.opened_at\)|[\w.]+\.getTime\(\)|Number\(|read\.expires \*|Math\.floor)/;

test('no text of a stranger is read by Date itself', () => {
  const found = folders.flatMap((folder) =>
    readdirSync(`adapters/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => {
        const text = readFileSync(`adapters/${folder}/${name}`, 'utf8');
        const parsed = [...text.matchAll(/Date\.parse\((?!from\) )|new Date\((?!\))([^\n]*)/g)];
        return parsed
          .filter(([, argument]) => argument === undefined || !isOwn.test(argument))
          .map(([call]) => `${folder}/${name}: ${call}`);
      }),
  );
  expect(found).toEqual(["recordings/timeline.ts: new Date('2000-01-01T00:00:00Z');"]);
});
