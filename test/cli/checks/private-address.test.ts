import { expect, test } from 'vitest';
import { requireReachable } from '../../../cli/checks/private-address.ts';

const resolve = async () => [{ address: '192.168.1.20' }, { address: 'fd00::20' }];

test.each([
  ['rtsp://192.168.1.20/stream', [], '--allow-ranges 192.168.1.20/32'],
  ['http://localhost:9000/a.m3u8', [], '--allow-ranges 127.0.0.1/32'],
  ['http://[fd00::20]/a.m3u8', [], '--allow-ranges fd00::20/128'],
  ['rtsp://camera.lan/stream', [], '--allow-ranges 192.168.1.20/32,fd00::20/128'],
  ['rtsp://camera.lan/stream', ['192.168.1.0/24'], '--allow-ranges 192.168.1.0/24,fd00::20/128'],
  ['http://169.254.169.254/', [], 'no setting opens this address'],
])('the command line names what opens %s with the ranges %j', async (url, ranges, remediation) => {
  await expect(requireReachable(url, ranges, resolve)).rejects.toMatchObject({
    remediation: expect.stringContaining(remediation),
  });
});

test.each([
  ['rtsp://camera.lan/stream', ['192.168.1.0/24', 'fd00::/8']],
  ['http://localhost/a.m3u8', ['127.0.0.0/8']],
  ['https://1.1.1.1/a.m3u8', []],
  ['not a url', []],
])('%s passes with the ranges %j', async (url, ranges) => {
  await expect(requireReachable(url, ranges, resolve)).resolves.toBeUndefined();
});

test('a name that does not resolve passes, since the capture reports it', async () => {
  const failing = () => Promise.reject(new Error('ENOTFOUND'));
  await expect(requireReachable('https://nowhere.example/', [], failing)).resolves.toBeUndefined();
});
