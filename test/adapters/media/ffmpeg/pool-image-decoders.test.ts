import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { ImageDecodeError } from '../../../../adapters/media/ffmpeg/errors.ts';
import { poolImageDecoders } from '../../../../adapters/media/ffmpeg/pool-image-decoders.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';

const never = new AbortController().signal;
const size = { width: 32, height: 18 };

function jpeg(source: string): Buffer {
  const options = `-loglevel error -f lavfi -i ${source} -frames:v 1 -q:v 3 -c:v mjpeg -pix_fmt yuvj420p -f image2pipe pipe:1`;
  return spawnSync(ffmpegPath, options.split(' '), { maxBuffer: 1e8 }).stdout;
}

const red = jpeg('color=red:size=320x180');
const pattern = jpeg('testsrc2=size=896x504');

function openPool() {
  let alone = 0;
  const decoder = createImageDecoder({ ffmpegPath });
  const pool = poolImageDecoders({
    ffmpegPath,
    decoder: {
      ...decoder,
      decodeCaptured: (...call) => {
        alone += 1;
        return decoder.decodeCaptured(...call);
      },
    },
  });
  return { decode: pool.decodeCaptured, decoder, countAlone: () => alone };
}

test('JPEGs of different sizes are decoded in one process, as in a process of their own', async () => {
  const { decode, decoder, countAlone } = openPool();
  for (const image of [red, pattern, pattern, red, pattern])
    expect(Buffer.from(await decode(image, size, never))).toEqual(
      Buffer.from(await decoder.decode(image, size, never)),
    );
  expect(countAlone()).toBe(0);
});

test('a JPEG with a thumbnail, one with a second image behind it, and one in a rush are decoded in processes of their own', async () => {
  const { decode, countAlone } = openPool();
  const length = Buffer.alloc(2);
  length.writeUInt16BE(red.length + 2);
  const withThumbnail = Buffer.concat([
    pattern.subarray(0, 2),
    Buffer.from([0xff, 0xe1]),
    length,
    red,
    pattern.subarray(2),
  ]);
  await decode(withThumbnail, size, never);
  expect(countAlone()).toBe(1);
  await decode(Buffer.concat([red, pattern]), size, never).catch(() => undefined);
  expect(countAlone()).toBe(2);
  const [one, other] = await Promise.all([decode(red, size, never), decode(pattern, size, never)]);
  expect(countAlone()).toBe(3);
  expect(one[0]).toBeGreaterThan(240);
  expect(other).not.toEqual(one);
});

test('a JPEG after a damaged one is decoded in a new process', async () => {
  const { decode, countAlone } = openPool();
  await decode(red, size, never);
  const damaged = Buffer.concat([pattern.subarray(0, 9000), Buffer.from([0xff, 0xd9])]);
  await expect(decode(damaged, size, never)).rejects.toBeInstanceOf(ImageDecodeError);
  expect(countAlone()).toBe(1);
  expect((await decode(red, size, never))[0]).toBeGreaterThan(240);
  expect(countAlone()).toBe(1);
});

test('an aborted decode fails with its reason', async () => {
  const { decode } = openPool();
  await expect(decode(red, size, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});
