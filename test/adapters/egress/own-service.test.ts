import { describe, expect, test } from 'vitest';
import { createEgressGuard, createWebhookGuard, isOwnAddress } from '../../../adapters/egress/guard.ts';
import { InvalidUrlError } from '../../../core/errors.ts';
import { EgressRefusedError } from '../../../adapters/egress/errors.ts';

const here = '93.184.215.14';
const other = '93.184.215.15';
const own = {
  port: 8787,
  publicUrl: 'https://watch.example',
  isOwnAddress: (address: string) => address === here,
};
const lookup = async (host: string) => [
  { address: host === 'other.example' ? other : here, family: 4 as const },
];
const guards = (ranges: string[]) => [
  createEgressGuard({ allowRanges: ranges, own, lookup }),
  createWebhookGuard(ranges, undefined, { own, lookup }),
];

describe.each([
  ['streams', 0],
  ['webhooks', 1],
])('URLs of %s', (_, index) => {
  const guard = (ranges: string[] = []) => guards(ranges)[index]!;

  test.each([
    [here, 80],
    ['another-name.example', 443],
    ['watch.example', 443],
    ['WATCH.example.', 9_000],
  ])('%s:%i, a public address of the service, is refused', async (host, port) => {
    await expect(guard().resolve(host, port)).rejects.toBeInstanceOf(EgressRefusedError);
  });

  test.each([
    'https://watch.example/live.m3u8',
    'http://127.0.0.1:8787/',
    'http://localhost:8787/x',
    `http://${here}:8787/`,
  ])('%s is refused before a request, in an allowed range too', (url) => {
    const check = () => guard(['127.0.0.0/8', `${here}/32`]).check(url, ['http', 'https']);
    expect(check).toThrow(InvalidUrlError);
    expect(check).toThrow(
      expect.objectContaining({ remediation: expect.stringContaining('service itself') }),
    );
  });

  test('an allowed range opens another port of this machine, and never that of the service', async () => {
    const opened = guard(['127.0.0.0/8', `${here}/32`]);
    for (const host of [here, 'watch.example', 'another-name.example', '127.0.0.1'])
      expect(await opened.resolve(host, 8_554)).toHaveLength(1);
    for (const host of [here, 'watch.example', 'another-name.example', '127.0.0.1', 'localhost'])
      await expect(opened.resolve(host, 8_787)).rejects.toBeInstanceOf(EgressRefusedError);
  });

  test('another server is reached', async () => {
    expect(await guard().resolve('other.example', 8_787)).toHaveLength(1);
    expect(guard().check('https://other.example/', ['https']).host).toBe('other.example');
  });
});

test.each([
  [
    'streams',
    createEgressGuard({ allowRanges: [], ownHosts: ['API.example.', 'd123.cloudfront.net'], lookup }),
  ],
  [
    'webhooks',
    createWebhookGuard([], undefined, { ownHosts: ['API.example.', 'd123.cloudfront.net'], lookup }),
  ],
])('%s use none of the hosts of the service, whatever their spelling and port', async (_, guard) => {
  for (const url of ['https://api.example/x', 'http://D123.CloudFront.net./', 'https://api.example:8443/']) {
    expect(() => guard.check(url, ['http', 'https'])).toThrow(
      expect.objectContaining({ remediation: expect.stringContaining('service itself') }),
    );
    await expect(guard.resolve(new URL(url).hostname, 443)).rejects.toBeInstanceOf(EgressRefusedError);
  }
  expect(guard.check('https://other.api.example/', ['https']).host).toBe('other.api.example');
});

test('the addresses of the interfaces are those of this machine', () => {
  expect(isOwnAddress('127.0.0.1')).toBe(true);
  expect(isOwnAddress('192.0.2.1')).toBe(false);
});
