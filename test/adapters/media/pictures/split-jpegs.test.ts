import { expect, test } from 'vitest';
import { createJpegMark } from '../../../../adapters/media/ffmpeg/single-jpeg.ts';
import { createJpegSplitter, JpegTooLargeError } from '../../../../adapters/media/pictures/read-pictures.ts';

const [one, two] = [createJpegMark(), createJpegMark()];
const start = Buffer.from([0xff, 0xd8]);

function split(chunks: Iterable<Uint8Array>, maxBytes = 100_000): Buffer[] {
  const splitter = createJpegSplitter({ maxBytes });
  return [...chunks].flatMap((chunk) => splitter.push(chunk)).map((jpeg) => Buffer.from(jpeg));
}

function segment(marker: number, content: Uint8Array): Buffer {
  const length = content.length + 2;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), content]);
}

const part = (jpeg: Buffer, length = jpeg.length): Buffer =>
  Buffer.concat([
    Buffer.from(`--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${length}\r\n\r\n`),
    jpeg,
    Buffer.from('\r\n'),
  ]);

test.each([
  ['parts with boundaries and lengths', [part(one), part(two)]],
  ['parts with wrong lengths', [part(one, 5), part(two, 900_000)]],
  ['parts that are filled up to words', [part(one), part(Buffer.concat([two, Buffer.alloc(3)]))]],
  ['JPEGs behind each other', [one, two]],
  ['bytes one by one', Array.from(Buffer.concat([part(one), part(two)]), (byte) => Buffer.from([byte]))],
  ['a byte in front that looks like a start', [Buffer.from([0xff, 0xff, 0xd8]), one, two]],
])('JPEGs are found in %s', (_, chunks) => {
  expect(split(chunks)).toEqual([one, two]);
});

test('a thumbnail in a segment is no picture of its own', () => {
  const withThumbnail = Buffer.concat([start, segment(0xe1, two), one.subarray(2)]);
  expect(split([withThumbnail])).toEqual([withThumbnail]);
});

test('a second scan, restart markers and fill bytes belong to the picture', () => {
  const [head, scan] = [one.subarray(0, -2), segment(0xda, Buffer.alloc(8))];
  const data = Buffer.from([1, 0xff, 0xd3, 2, 0xff, 0, 3, 0xff, 0xff, 0xff, 0xd9]);
  const whole = Buffer.concat([head, scan, data]);
  expect(split([whole.subarray(0, -5), whole.subarray(-5)])).toEqual([whole]);
});

test.each([
  ['a picture that is cut in its data', one.subarray(0, -5)],
  ['a start without a segment', Buffer.from([0xff, 0xd8, 0xff, 0x01])],
  ['text', Buffer.from('<html>no picture</html>')],
])('%s does not hide the picture after it', (_, before) => {
  expect(split([before, two])).toEqual([two]);
});

test('a picture without an end is too large at its limit, and one below it is not', () => {
  const endless = Buffer.concat([one.subarray(0, -2), Buffer.alloc(70_000, 1)]);
  expect(() => split([endless, Buffer.alloc(40_000, 1)])).toThrow(JpegTooLargeError);
  expect(split([endless, one.subarray(-2)])).toHaveLength(1);
});

test('bytes without a picture take no memory', () => {
  const splitter = createJpegSplitter({ maxBytes: 1000 });
  for (let count = 0; count < 100; count += 1) expect(splitter.push(Buffer.alloc(60_000, 0xff))).toEqual([]);
  expect(splitter.isWithin()).toBe(false);
  expect(splitter.push(one)).toHaveLength(1);
});

test('each byte is read once: a thousand starts in each of many segments take no longer than other bytes', () => {
  const nested = segment(0xe1, Buffer.alloc(64_000, Buffer.from([0xff, 0xd8, 0xff, 0xe0])));
  const segments = Buffer.concat(Array<Buffer>(60).fill(nested));
  const hostile = Buffer.concat([start, segments, Buffer.from([1, 2])]);
  const splitter = createJpegSplitter({ maxBytes: 10_000_000 });
  const before = process.cpuUsage();
  for (let round = 0; round < 3; round += 1) expect(splitter.push(hostile)).toEqual([]);
  const { user } = process.cpuUsage(before);
  expect(user / 1000).toBeLessThan(1000);
  expect(splitter.push(one)).toHaveLength(1);
});
