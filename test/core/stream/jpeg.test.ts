import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { jpeg } from '../../adapters/vision/pixel/pictures.ts';

const segment = (marker: number, ...content: number[]) => [0xff, marker, 0, content.length + 2, ...content];
const frame = (marker: number, width: number, height: number, precision = 8) =>
  segment(marker, precision, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0);
const scan = segment(0xda, 1, 1, 0, 0, 63, 0);
const read = (...parts: number[][]) => readJpegHeader(new Uint8Array([0xff, 0xd8, ...parts.flat(), 1, 2, 3]));

test('the header of a JPEG by ffmpeg has its size', () => {
  expect(readJpegHeader(jpeg('testsrc2=size=642x360'))).toEqual({ width: 642, height: 360 });
});

test.each([0xc0, 0xc1, 0xc2])('a header with the start-of-frame marker %i is read', (marker) => {
  expect(read(frame(marker, 1920, 1080), scan)).toEqual({ width: 1920, height: 1080 });
});

test('the header of an embedded thumbnail is ignored', () => {
  const thumbnail = segment(0xe1, 0xff, 0xd8, ...frame(0xc0, 160, 90), 0xff, 0xd9);
  expect(read(thumbnail, [0xff, 0xff], frame(0xc0, 640, 360).slice(1), scan)).toEqual({
    width: 640,
    height: 360,
  });
});

test.each([
  ['without a scan', read(frame(0xc0, 16, 16))],
  ['without a frame header', read(scan)],
  ['with an end before the scan', read(frame(0xc0, 16, 16), [0xff, 0xd9], scan)],
  ['without a width', read(frame(0xc0, 0, 16), scan)],
  ['without a height', read(frame(0xc0, 16, 0), scan)],
  ['with 12 bits per sample', read(frame(0xc0, 16, 16, 12), scan)],
  ['in lossless coding', read(frame(0xc3, 16, 16), scan)],
  ['with a segment longer than the file', read([0xff, 0xe0, 0xff, 0xff], frame(0xc0, 16, 16), scan)],
  ['with bytes between segments', read([0, 0xe0, 0, 2], frame(0xc0, 16, 16), scan)],
  [
    'with 1,001 segments before the scan',
    read(...Array.from({ length: 1000 }, () => segment(0xe0)), frame(0xc0, 16, 16), scan),
  ],
  ['with only a start marker', readJpegHeader(new Uint8Array([0xff, 0xd8, 0xff]))],
  ['without bytes', readJpegHeader(new Uint8Array())],
])('a JPEG %s has no valid header', (_, header) => {
  expect(header).toBeUndefined();
});

test('readJpegHeader never throws on random bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const header = readJpegHeader(new Uint8Array([0xff, 0xd8, 0xff, ...bytes]));
      return header === undefined || (header.width > 0 && header.height > 0);
    }),
    { numRuns: 2000 },
  );
});
