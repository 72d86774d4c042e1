import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { fileResponse } from '../../../adapters/http/endpoint-response.ts';
import { WatchpostError } from '../../../core/errors.ts';
import { holdMedia, type ByteRange, type MediaFile } from '../../../core/ports/media-store.ts';

const film = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
const tag = '"a.mp4-10"';

async function request(headers: Record<string, string>, file: MediaFile = holdMedia('clips/7/a.mp4', film)) {
  const app = new Hono().get('/', (context) => fileResponse(context, file, { 'Content-Type': 'video/mp4' }));
  app.onError((error, context) => context.text(error.message, 404));
  return app.request('/', { headers });
}

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
  const response = await request(range === undefined ? {} : { range });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-range')).toBe(contentRange);
  if (status !== 416) expect(response.headers.get('content-length')).toBe(String(bytes.length));
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual(bytes);
});

test.each([
  [tag, 206],
  ['"b.mp4-10"', 200],
  [`W/${tag}`, 200],
  ['Fri, 20 Nov 2026 12:00:00 GMT', 200],
])('a range of the content %s is answered with %i', async (condition, status) => {
  const response = await request({ range: 'bytes=2-4', 'if-range': condition });
  expect([response.status, response.headers.get('etag')]).toEqual([status, tag]);
});

test('content that the client has is not sent again', async () => {
  const response = await request({ 'if-none-match': tag });
  expect([response.status, await response.text()]).toEqual([304, '']);
});

/** Returns a film of so many bytes, and the ranges that were read of it. */
function openFilm(bytes: number, stored = bytes) {
  const ranges: ByteRange[] = [];
  const content = Buffer.alloc(stored, 7);
  const read = async (range: ByteRange) => {
    ranges.push(range);
    return content.subarray(range.first, range.last + 1);
  };
  return { file: { bytes, tag: 'a', read }, ranges };
}

test('a range of a large film is read in blocks, each after the one before is sent', async () => {
  const block = 1024 * 1024;
  const { file, ranges } = openFilm(40 * block);
  const response = await request({ range: `bytes=5-${2 * block + 9}` }, file);
  expect(ranges).toEqual([{ first: 5, last: block + 4 }]);
  expect((await response.arrayBuffer()).byteLength).toBe(2 * block + 5);
  expect(ranges.slice(1)).toEqual([
    { first: block + 5, last: 2 * block + 4 },
    { first: 2 * block + 5, last: 2 * block + 9 },
  ]);
});

test('a client that leaves ends the reading of a film', async () => {
  const { file, ranges } = openFilm(40 * 1024 * 1024);
  const reader = (await request({}, file)).body!.getReader();
  await reader.read();
  await reader.cancel();
  expect(ranges).toHaveLength(1);
});

test('a film that is gone is an error of the response, and one that ends early breaks it off', async () => {
  const absent = new WatchpostError('NOT_FOUND', 'This alert has no clip', 'It has expired.');
  const gone = { ...openFilm(5).file, read: () => Promise.reject(absent) };
  expect((await request({}, gone)).status).toBe(404);
  const response = await request({}, openFilm(3 * 1024 * 1024, 1024 * 1024).file);
  await expect(response.arrayBuffer()).rejects.toThrow('shorter than it was stored');
});
