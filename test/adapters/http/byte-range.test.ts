import { expect, test } from 'vitest';
import { rangeResponse } from '../../../adapters/http/byte-range.ts';

const film = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

test.each([
  ['bytes=0-3', 206, 'bytes 0-3/10', [0, 1, 2, 3]],
  ['bytes=8-', 206, 'bytes 8-9/10', [8, 9]],
  ['bytes=8-99999', 206, 'bytes 8-9/10', [8, 9]],
  ['bytes=-3', 206, 'bytes 7-9/10', [7, 8, 9]],
  ['bytes=-99', 206, 'bytes 0-9/10', [...film]],
  ['BYTES=9-9', 206, 'bytes 9-9/10', [9]],
  ['bytes=10-', 416, 'bytes */10', []],
  ['bytes=10-20', 416, 'bytes */10', []],
  ['bytes=-0', 416, 'bytes */10', []],
  ['bytes=4-2', 200, null, [...film]],
  ['bytes=0-1,4-5', 200, null, [...film]],
  ['bytes=-', 200, null, [...film]],
  ['bytes=a-b', 200, null, [...film]],
  ['lines=0-1', 200, null, [...film]],
  [`bytes=${'9'.repeat(400)}-`, 200, null, [...film]],
  [undefined, 200, null, [...film]],
])('the range %s is answered with %i', async (range, status, contentRange, bytes) => {
  const response = rangeResponse(film, range, { 'Content-Type': 'video/mp4' });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-range')).toBe(contentRange);
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual(bytes);
});
