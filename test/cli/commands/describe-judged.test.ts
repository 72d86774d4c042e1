import { expect, test } from 'vitest';
import { describeJudged, listOrigins } from '../../../cli/commands/start.ts';

test.each([
  ['objects', true, /80 everyday things.*set WATCHPOST_VISION/],
  ['objects', false, /colors, brightness and motion only, no things.*npm install --include=optional$/],
  ['openai', true, /^any condition/],
  ['bedrock', true, /^any condition/],
  ['local', true, /^any condition/],
  ['objects+openai', true, /^any condition/],
])('the start with %s, with a detector %s, states in one line what it judges', (provider, detector, line) => {
  expect(describeJudged(provider, detector)).toMatch(line);
  expect(describeJudged(provider, detector)).not.toContain('\n');
});

test('a service that listens on all addresses names those of the machine that other devices can use', () => {
  const address = (value: string, family: 'IPv4' | 'IPv6', internal = false) =>
    ({ address: value, family, internal }) as never;
  const interfaces = {
    lo: [address('127.0.0.1', 'IPv4', true), address('::1', 'IPv6', true)],
    eth0: [address('192.168.1.10', 'IPv4'), address('fe80::1', 'IPv6'), address('2001:db8::1', 'IPv6')],
  };
  expect(listOrigins('0.0.0.0', '8787', interfaces)).toEqual(['http://192.168.1.10:8787']);
  expect(listOrigins('::', '8787', interfaces)).toEqual([
    'http://192.168.1.10:8787',
    'http://[2001:db8::1]:8787',
  ]);
  expect(listOrigins('127.0.0.1', '8787', interfaces)).toEqual([]);
});
