import { describe, expect, test } from 'vitest';
import { toDeviceUrl, toMediaUrl, toServiceUrl } from '../../../adapters/onvif/device-address.ts';

const device = new URL('http://192.168.1.20:8000/onvif/device_service');

test.each([
  ['192.168.1.20', 'http://192.168.1.20/onvif/device_service'],
  [' 192.168.1.20:8000 ', 'http://192.168.1.20:8000/onvif/device_service'],
  ['camera.lan', 'http://camera.lan/onvif/device_service'],
  ['fd00::20', 'http://[fd00::20]/onvif/device_service'],
  ['[fd00::20]:8000', 'http://[fd00::20]:8000/onvif/device_service'],
  ['192.168.1.20/services', 'http://192.168.1.20/services'],
  ['http://192.168.1.20:2020/services', 'http://192.168.1.20:2020/services'],
])('the address %s leads to %s', (address, url) => {
  expect(toDeviceUrl(address)).toBe(url);
});

test.each([
  ['http://192.168.1.20:8080/onvif/media?x=1', 'http://192.168.1.20:8080/onvif/media?x=1'],
  ['http://192.168.1.20/onvif/media', 'http://192.168.1.20/onvif/media'],
  ['http://10.0.0.1:81/onvif/media', 'http://192.168.1.20:8000/onvif/media'],
  ['http://evil.example/onvif/media', 'http://192.168.1.20:8000/onvif/media'],
  ['https://192.168.1.20/onvif/media', 'http://192.168.1.20:8000/onvif/media'],
  ['http://user:secret@10.0.0.1/onvif/media', 'http://192.168.1.20:8000/onvif/media'],
  ['file:///etc/passwd', 'http://192.168.1.20:8000/onvif/device_service'],
  ['nothing', 'http://192.168.1.20:8000/onvif/device_service'],
])('the service %s is asked at %s, on the host that the user chose', (stated, url) => {
  expect(toServiceUrl(stated, device).href).toBe(url);
});

describe('stated streams', () => {
  test.each([
    ['rtsp://192.168.1.20:554/live?channel=1&subtype=0', 'rtsp://192.168.1.20:554/live?channel=1&subtype=0'],
    ['rtsp://admin:secret@192.168.1.20/live', 'rtsp://192.168.1.20/live'],
    ['rtsp://10.0.0.1:8554/live', 'rtsp://192.168.1.20:8554/live'],
    ['rtsp://evil.example/live#x', 'rtsp://192.168.1.20/live'],
    ['rtsp://[fe80::1]:554/live', 'rtsp://192.168.1.20:554/live'],
  ])('the stream %s becomes %s, without credentials', (stated, url) => {
    expect(toMediaUrl(stated, device, ['rtsp'])).toBe(url);
  });

  test.each([
    'http://192.168.1.20/live',
    'file:///etc/passwd',
    'rtsp:live',
    'nothing',
    '',
    undefined,
    `rtsp://192.168.1.20/${'x'.repeat(500)}`,
  ])('the stream %s is refused', (stated) => {
    expect(toMediaUrl(stated, device, ['rtsp'])).toBeNull();
  });

  test('a host of IPv6 keeps its brackets', () => {
    const ipv6 = new URL('http://[fd00::20]/onvif/device_service');
    expect(toMediaUrl('rtsp://10.0.0.1:554/live', ipv6, ['rtsp'])).toBe('rtsp://[fd00::20]:554/live');
  });
});
