import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { isWholeJpeg } from '../../../../adapters/media/pictures/whole-jpeg.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';

/** A picture of 33 × 17 pixels: ffmpeg writes no progressive ones. */
const progressive = Buffer.from(
  [
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////',
    '////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////',
    '////////////wgARCAARACEDASIAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAAAAECA//EABQBAQAAAAAAAAAAAAAAAAAAAAD/',
    '2gAMAwEAAhADEAAAARBpAC0Oew6g/8QAGhABAAEFAAAAAAAAAAAAAAAAAEEBEBIgIf/aAAgBAQABBQLTt4YpUS//xAAUEQEAAAAA',
    'AAAAAAAAAAAAAAAg/9oACAEDAQE/AV//xAAUEQEAAAAAAAAAAAAAAAAAAAAg/9oACAECAQE/AV//xAAZEAADAAMAAAAAAAAAAAAA',
    'AAAAASAQgeH/2gAIAQEABj8Cjt7EPH//xAAfEAACAQQCAwAAAAAAAAAAAAAAAREhMUHwEFFxkcH/2gAIAQEAAT8hzVHQlJSSOjCh',
    'yZK2I1ktY7vPw17LuX//2gAMAwEAAgADAAAAEMJPIHPP/8QAFBEBAAAAAAAAAAAAAAAAAAAAIP/aAAgBAwEBPxBf/8QAFBEBAAAA',
    'AAAAAAAAAAAAAAAAIP/aAAgBAgEBPxBf/8QAJBAAAQMDBAEFAAAAAAAAAAAAAREhMQBR8GFxgaFBEJGxwdH/2gAIAQEAAT8QZRYS',
    'VuL0qqDDyABvF+I7UlgB5U32zS6qWKgpM6e9tYrMftCgLguiO6Rv1RYkLQNDPH1pFGbYC3fDXhCQAhCDjJzWKq62gkbqdI/NHDj0',
    '/9k=',
  ].join(''),
  'base64',
);

const words = (line: string) => line.split(' ');

/** Draws pictures of one size. */
function draw(options = '', frames = 2): Buffer[] {
  const args = `-loglevel error -f lavfi -i testsrc2=size=163x99:rate=5 -frames:v ${frames} ${options} -f image2pipe -c:v mjpeg pipe:1`;
  const joined = execFileSync(ffmpegPath, words(args.replaceAll(/ +/g, ' ')), { maxBuffer: 1e8 });
  const starts = Array.from(joined.toString('latin1').matchAll(/\xff\xd8\xff/g), ({ index }) => index);
  return starts.map((start, at) => joined.subarray(start, starts[at + 1] ?? joined.length));
}

const [one, two] = draw() as [Buffer, Buffer];
const dataOf = (jpeg: Buffer) => jpeg.indexOf(Buffer.from([0xff, 0xda])) + 14;

/** Joins the begin of a picture with the end of another one, as a loss of the bytes between them does. */
function join(first: Buffer, second: Buffer, share: number, otherShare: number): Buffer {
  const cut = (jpeg: Buffer, part: number) =>
    dataOf(jpeg) + Math.round(part * (jpeg.length - 2 - dataOf(jpeg)));
  return Buffer.concat([first.subarray(0, cut(first, share)), second.subarray(cut(second, otherShare))]);
}

const fill = (jpeg: Buffer, bytes: Buffer) => Buffer.concat([jpeg.subarray(0, -2), bytes, jpeg.subarray(-2)]);

test.each([
  ['of half the colors', one],
  ['of all colors', draw('-pix_fmt yuvj444p')[0]],
  ['of a quarter of the columns', draw('-pix_fmt yuvj411p')[0]],
  ['without colors', draw('-pix_fmt gray')[0]],
  ['with the usual tables', draw('-huffman default')[0]],
  ['with restart markers', draw('-slices 3 -threads 3')[0]],
  ['in several scans', progressive],
  [
    'without its tables',
    Buffer.concat([one.subarray(0, 2), one.subarray(one.indexOf(Buffer.from([0xff, 0xc0])))]),
  ],
  ['that is filled up in front of its end', fill(one, Buffer.alloc(300, 0xff))],
  ['with some bytes in front of its end', fill(one, Buffer.from([1, 2, 3]))],
])('a JPEG %s is whole', async (_kind, jpeg) => {
  expect(await isWholeJpeg(jpeg!)).toBe(true);
});

test.each([
  ['that a loss has joined of two', join(one, two, 0.6, 0.3)],
  [
    'that a loss has joined of two with restart markers',
    join(...(draw('-slices 3') as [Buffer, Buffer]), 0.6, 0.3),
  ],
  ['without the middle of its data', join(one, one, 0.3, 0.6)],
  ['with the headers of another one in its data', Buffer.concat([one.subarray(0, -900), two.subarray(2)])],
  ['with the headers of another one behind its data', Buffer.concat([one.subarray(0, -2), two.subarray(2)])],
  ['without a scan', Buffer.concat([one.subarray(0, dataOf(one) - 14), one.subarray(-2)])],
  [
    'in several scans, of which one is twice',
    fill(progressive, progressive.subarray(progressive.lastIndexOf(Buffer.from([0xff, 0xda])), -2)),
  ],
  [
    'whose frame is cut',
    Buffer.concat([one.subarray(0, 2), Buffer.from('ffc0000401', 'hex'), one.subarray(2)]),
  ],
  [
    'with a segment that is longer than the rest',
    Buffer.concat([one.subarray(0, -2), Buffer.from('ffe0ffff', 'hex'), one.subarray(-2)]),
  ],
])('a JPEG %s is not whole', async (_kind, jpeg) => {
  expect(await isWholeJpeg(jpeg)).toBe(false);
});

test.each(
  Array.from(progressive.toString('latin1').matchAll(/\xff\xda/g), ({ index }, scan) => ({ index, scan })),
)('a JPEG whose scan $scan has lost data is not whole', async ({ index }) => {
  const at = index + 2 + progressive.readUInt16BE(index + 2);
  const jpeg = Buffer.concat([progressive.subarray(0, at), progressive.subarray(at + 5)]);
  expect(await isWholeJpeg(jpeg)).toBe(false);
});

test('no loss within the data of a picture leaves it whole', async () => {
  for (let share = 0; share < 0.9; share += 0.05)
    for (const other of [share - 0.4, share + 0.4])
      if (other > 0 && other < 1) expect(await isWholeJpeg(join(one, two, share, other))).toBe(false);
});
