import { expect, test } from 'vitest';
import { createJpegMark, readSingleJpeg } from '../../../../adapters/media/ffmpeg/single-jpeg.ts';

const picture = createJpegMark();
const start = picture.subarray(0, 2);
const rest = picture.subarray(2);
const segment = (marker: number, content: Uint8Array) =>
  Buffer.concat([
    Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 0xff]),
    content,
  ]);
const replaced = (from: number, to: number) => {
  const changed = Buffer.from(picture);
  changed[changed.indexOf(Buffer.from([0xff, from])) + 1] = to;
  return changed;
};

test('a baseline picture passes unchanged', () => {
  expect(readSingleJpeg(picture)).toEqual(picture);
});

test('the JFIF header and the comment of a picture are left out, with anything that they hold', () => {
  const withSegments = Buffer.concat([start, segment(0xe0, picture), segment(0xfe, picture), rest]);
  expect(readSingleJpeg(withSegments)).toEqual(picture);
});

test.each([
  ['two pictures behind each other', Buffer.concat([picture, picture])],
  ['a byte after the end', Buffer.concat([picture, Buffer.from([0])])],
  ['a picture without its end', picture.subarray(0, -2)],
  ['a progressive picture', replaced(0xc0, 0xc2)],
  ['a second header', Buffer.concat([start, segment(0xc0, Buffer.alloc(15)), rest])],
  ['an EXIF segment with a thumbnail', Buffer.concat([start, segment(0xe1, picture), rest])],
  ['a segment that ends after the file', Buffer.from([0xff, 0xd8, 0xff, 0xdb, 0xff, 0xff, 0, 0])],
  ['another format', Buffer.from('GIF89a')],
  ['no byte', Buffer.alloc(0)],
])('%s needs a process of its own', (_, bytes) => {
  expect(readSingleJpeg(bytes)).toBeNull();
});
