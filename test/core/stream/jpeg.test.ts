import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { jpeg } from '../../adapters/vision/pixel/pictures.ts';

const segment = (marker: number, ...content: number[]) => [0xff, marker, 0, content.length + 2, ...content];
const frame = (marker: number, width: number, height: number, precision = 8) =>
  segment(marker, precision, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0);
const scan = segment(0xda, 1, 1, 0, 0, 63, 0);
const read = (...parts: number[][]) => readJpegHeader(new Uint8Array([0xff, 0xd8, ...parts.flat(), 1, 2, 3]));

describe('the header of a JPEG', () => {
  test('says the size of a real one', () => {
    expect(readJpegHeader(jpeg('testsrc2=size=642x360'))).toEqual({ width: 642, height: 360 });
  });

  test.each([0xc0, 0xc1, 0xc2])('is read from frame marker %i', (marker) => {
    expect(read(frame(marker, 1920, 1080), scan)).toEqual({ width: 1920, height: 1080 });
  });

  test('is not that of the thumbnail in it', () => {
    const thumbnail = segment(0xe1, 0xff, 0xd8, ...frame(0xc0, 160, 90), 0xff, 0xd9);
    expect(read(thumbnail, [0xff, 0xff], frame(0xc0, 640, 360).slice(1), scan)).toEqual({
      width: 640,
      height: 360,
    });
  });

  test.each([
    ['no scan', read(frame(0xc0, 16, 16))],
    ['no frame', read(scan)],
    ['an end before the scan', read(frame(0xc0, 16, 16), [0xff, 0xd9], scan)],
    ['no width', read(frame(0xc0, 0, 16), scan)],
    ['no height', read(frame(0xc0, 16, 0), scan)],
    ['12 bits a sample', read(frame(0xc0, 16, 16, 12), scan)],
    ['lossless coding', read(frame(0xc3, 16, 16), scan)],
    ['a segment that is longer than the file', read([0xff, 0xe0, 0xff, 0xff], frame(0xc0, 16, 16), scan)],
    ['bytes between segments', read([0, 0xe0, 0, 2], frame(0xc0, 16, 16), scan)],
    ['a start and no more', readJpegHeader(new Uint8Array([0xff, 0xd8, 0xff]))],
    ['nothing', readJpegHeader(new Uint8Array())],
  ])('with %s is none', (_, header) => {
    expect(header).toBeUndefined();
  });

  test('is looked for in whatever bytes without failing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const header = readJpegHeader(new Uint8Array([0xff, 0xd8, 0xff, ...bytes]));
        return header === undefined || (header.width > 0 && header.height > 0);
      }),
      { numRuns: 2000 },
    );
  });
});
