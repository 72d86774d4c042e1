import { expect, test } from 'vitest';
import { rankVariants } from '../../../../../adapters/media/hls/playlist/choose-variant.ts';
import type { InputMode } from '../../../../../core/records/capture.ts';
import type { Variant } from '../../../../../adapters/media/hls/playlist/playlist.ts';

function variant(url: string, more: Partial<Variant> = {}): Variant {
  return { url, bandwidth: 1_000_000, resolution: null, codecs: null, ...more };
}

function sized(width: number, height: number, bandwidth = width * 1000): Variant {
  return variant(`${width}x${height}`, { resolution: { width, height }, bandwidth });
}

const ladder = [sized(1920, 1080), sized(256, 144), sized(1280, 720), sized(854, 480), sized(640, 360)];

const chooseVariant = (variants: Variant[], mode: InputMode): Variant | null =>
  rankVariants(variants, mode)[0] ?? null;

test('rankVariants prefers 720 lines for frames and 480 for clips', () => {
  expect(chooseVariant(ladder, 'frames')?.url).toBe('1280x720');
  expect(chooseVariant(ladder, 'clip')?.url).toBe('854x480');
  expect(chooseVariant(ladder, 'hybrid')?.url).toBe('854x480');
});

test('rankVariants prefers the next larger size, or the largest if all are smaller', () => {
  expect(chooseVariant([sized(640, 360), sized(1920, 1080)], 'frames')?.url).toBe('1920x1080');
  expect(chooseVariant([sized(640, 360), sized(256, 144)], 'frames')?.url).toBe('640x360');
});

test('rankVariants measures a portrait video by its width', () => {
  expect(chooseVariant([sized(1080, 1920), sized(720, 1280), sized(360, 640)], 'frames')?.url).toBe(
    '720x1280',
  );
});

test('rankVariants prefers the lower bandwidth at equal size', () => {
  const chosen = chooseVariant([sized(1280, 720, 5_000_000), sized(1280, 720, 2_500_000)], 'frames');
  expect(chosen?.bandwidth).toBe(2_500_000);
});

test('rankVariants uses the bandwidth if no variant has a resolution', () => {
  const unsized = [5, 3.2, 1.6, 0.4].map((mb) => variant(`${mb}`, { bandwidth: mb * 1e6 }));
  expect(chooseVariant(unsized, 'frames')?.url).toBe('3.2');
  expect(chooseVariant(unsized, 'clip')?.url).toBe('1.6');
});

test('rankVariants prefers H.264 at equal size and ranks Dolby Vision last', () => {
  const codecs = ['dvh1.05.03', 'hvc1.1.6.L93', 'avc1.4d401f'];
  const same = codecs.map((codec, index) => ({ ...sized(1280, 720, index * 1e6), codecs: codec }));
  expect(rankVariants(same, 'frames').map((one) => one.codecs)).toEqual(codecs.toReversed());
});

test('rankVariants ranks alternatives behind the best: larger ones, then smaller ones', () => {
  expect(rankVariants(ladder, 'frames').map(({ url }) => url)).toEqual([
    '1280x720',
    '1920x1080',
    '854x480',
    '640x360',
    '256x144',
  ]);
});

test('rankVariants treats missing codecs as unknown', () => {
  expect(chooseVariant([variant('a', { codecs: '' })], 'frames')?.url).toBe('a');
});

test('rankVariants omits audio-only variants', () => {
  const sound = variant('sound', { codecs: 'mp4a.40.2', bandwidth: 9e6 });
  expect(chooseVariant([sound, sized(256, 144)], 'frames')?.url).toBe('256x144');
  expect(chooseVariant([sound], 'frames')).toBeNull();
  expect(chooseVariant([variant('hevc', { codecs: 'mp4a.40.2, hvc1.1.6.L93' })], 'frames')?.url).toBe('hevc');
});

test('rankVariants returns nothing for an empty list', () => {
  expect(chooseVariant([], 'frames')).toBeNull();
});
