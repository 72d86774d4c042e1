import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { ImageDecodeError } from '../../../../adapters/media/ffmpeg/errors.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';

const decoder = createImageDecoder({ ffmpegPath });
const never = new AbortController().signal;
const size = { width: 8, height: 4 };
let jpeg: Buffer;
let mp4: Buffer;

async function make(line: string): Promise<Buffer> {
  const args = ['-loglevel', 'error', ...line.split(' ')];
  return (await promisify(execFile)(ffmpegPath, args, { encoding: 'buffer', maxBuffer: 1e8 })).stdout;
}

beforeAll(async () => {
  jpeg = await make('-f lavfi -i color=red:size=320x180 -frames:v 1 -c:v mjpeg -f image2pipe pipe:1');
  // A fragmented MP4 is readable from its start, like one with its index at the front.
  mp4 = await make(
    '-f lavfi -i color=blue:size=320x180:rate=8 -t 2 -c:v libx264 -pix_fmt yuv420p -movflags frag_keyframe+empty_moov -f mp4 pipe:1',
  );
});

describe('decode', () => {
  test('a decoded JPEG is packed RGB of the requested size', async () => {
    const rgb = await decoder.decode(jpeg, size, never);
    expect(rgb.length).toBe(8 * 4 * 3);
    expect(rgb[0]).toBeGreaterThan(240);
    expect(rgb[1]).toBeLessThan(15);
    expect(rgb[2]).toBeLessThan(15);
  });

  test('a decoder ignores the thumbnail inside a JPEG', async () => {
    const thumbnail = await make(
      '-f lavfi -i color=blue:size=32x16 -frames:v 1 -c:v mjpeg -f image2pipe pipe:1',
    );
    const length = Buffer.alloc(2);
    length.writeUInt16BE(thumbnail.length + 2);
    const withThumbnail = Buffer.concat([
      jpeg.subarray(0, 2),
      Buffer.from([0xff, 0xe1]),
      length,
      thumbnail,
      jpeg.subarray(2),
    ]);
    expect((await decoder.decode(withThumbnail, size, never))[0]).toBeGreaterThan(240);
  });

  test.each([
    ['empty', () => Buffer.alloc(0)],
    ['text', () => Buffer.from('<svg><image href="file:///etc/passwd"/></svg>')],
    ['PNG', () => make('-f lavfi -i color=red:size=32x16 -frames:v 1 -c:v png -f image2pipe pipe:1')],
    ['MP4', () => mp4],
    ['only a header', () => jpeg.subarray(0, 100)],
    [
      'truncated',
      () =>
        make('-f lavfi -i testsrc2=size=640x360 -frames:v 1 -c:v mjpeg -f image2pipe pipe:1').then((whole) =>
          whole.subarray(0, 9000),
        ),
    ],
    [
      'larger than any camera',
      () => make('-f lavfi -i color=red:size=6000x6000 -frames:v 1 -c:v mjpeg -f image2pipe pipe:1'),
    ],
  ])('a decoder rejects a JPEG that is %s', async (_case, bytes) => {
    await expect(decoder.decode(await bytes(), size, never)).rejects.toBeInstanceOf(ImageDecodeError);
  });

  test('a decoder stops when its signal aborts', async () => {
    await expect(decoder.decode(jpeg, size, AbortSignal.abort(new Error('enough')))).rejects.toThrow(
      'enough',
    );
  });
});

describe('decodeClip', () => {
  test('a decoded clip has the requested frame rate', async () => {
    const pictures = await decoder.decodeClip(mp4, size, 2, never);
    expect(pictures.length).toBe(4);
    expect(pictures.every((rgb) => rgb.length === 96 && rgb[2]! > 240)).toBe(true);
  });

  test('a decoder rejects bytes that are not a clip', async () => {
    await expect(decoder.decodeClip(jpeg, size, 2, never)).rejects.toBeInstanceOf(ImageDecodeError);
  });
});
