import { execFileSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { frameSize, pictureBranches } from '../../../adapters/media/ffmpeg/capture-arguments.ts';
import { readCodedPicture } from '../../../adapters/media/h264/coded-picture.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { ffmpegPath } from '../../support/hls/recording.ts';
import { mostDifferent } from '../../support/most-different.ts';

function run(options: string, input?: Buffer): Buffer {
  return execFileSync(ffmpegPath, `-loglevel error ${options}`.split(' '), { input, maxBuffer: 1e8 });
}

function encode(size: string, options = '', format = 'yuv420p'): Buffer {
  const source = `-f lavfi -i testsrc2=size=${size}:rate=5 -frames:v 1`;
  return run(`${source} -pix_fmt ${format} -c:v libx264 ${options} -f h264 pipe:1`.replaceAll('  ', ' '));
}

let whole: Buffer;
let sliced: Buffer;
beforeAll(() => {
  whole = encode('320x180');
  sliced = encode('320x180', '-x264-params slices=3:aud=1');
});

/** Units with their start codes: SPS, PPS, information, then slices. */
function units(bytes: Buffer): Buffer[] {
  const texts = bytes.toString('latin1').replaceAll('\0\0\0\x01', '\0\0\x01').split('\0\0\x01');
  return texts.flatMap((text) => (text === '' ? [] : [Buffer.from(`\0\0\0\x01${text}`, 'latin1')]));
}

function findSlices(bytes: Buffer): Buffer[] {
  return units(bytes).filter((unit) => (unit.readUInt8(4) & 0x1f) === 5);
}

test('a key frame keeps its parameter sets and slices, and nothing else', () => {
  const types = (bytes: Buffer) => units(bytes).map((unit) => unit.readUInt8(4) & 0x1f);
  expect(types(readCodedPicture(whole)!.bytes)).toEqual([7, 8, 5]);
  expect(types(readCodedPicture(sliced)!.bytes)).toEqual([7, 8, 5, 5, 5]);
  const ended = Buffer.concat([whole, Buffer.from([0, 0, 1, 10, 0, 0, 1, 11])]);
  expect(types(readCodedPicture(ended)!.bytes)).toEqual([7, 8, 5]);
});

test.each<[string, () => Buffer]>([
  ['a second picture', () => Buffer.concat([whole, ...findSlices(whole)])],
  ['a second picture with its parameter sets', () => Buffer.concat([whole, whole])],
  ['a second SPS', () => Buffer.concat([whole, units(encode('64x64'))[0]!])],
  [
    'a repeated PPS',
    () => Buffer.concat([...units(whole).slice(0, 2), units(whole)[1]!, ...findSlices(whole)]),
  ],
  ['no parameter sets', () => Buffer.concat(findSlices(whole))],
  ['no slice', () => Buffer.concat(units(whole).slice(0, 2))],
  ['no first slice', () => Buffer.concat([...units(sliced).slice(0, 3), ...findSlices(sliced).slice(1)])],
  [
    'slices out of order',
    () => Buffer.concat([...units(sliced).slice(0, 3), ...findSlices(sliced).toReversed()]),
  ],
  [
    'slices of another kind of stream',
    () => Buffer.concat([...units(whole).slice(0, 2), Buffer.from([0, 0, 0, 1, 1, 0x9a, 0x80])]),
  ],
  ['interlaced frames', () => encode('320x192', '-x264-params interlaced=1')],
  ['colors of 4:2:2', () => encode('320x180', '', 'yuv422p')],
  ['10 bits', () => encode('320x180', '', 'yuv420p10le')],
  ['zeros that no unit has', () => Buffer.concat([whole, Buffer.from([0, 0, 0, 2, 1])])],
  ['a cut SPS', () => Buffer.concat([units(whole)[0]!.subarray(0, 9), ...units(whole).slice(1)])],
  ['nothing', () => Buffer.alloc(0)],
])('an access unit with %s is no single picture', (_, craft) => {
  expect(readCodedPicture(whole)).not.toBeNull();
  expect(readCodedPicture(craft())).toBeNull();
});

const sizes = '322x182 1000x30 1920x1080 16x16 64x64 320x180 640x480 1280x720 898x600 720x576';

test.each(mostDifferent(sizes.split(' '), 3))(
  'the frame of a picture of %s has the size that its SPS tells',
  (size) => {
    const bytes = encode(size, '-x264-params cqm=jvt');
    const { size: coded } = readCodedPicture(bytes)!;
    expect(`${coded.width}x${coded.height}`).toBe(size);
    expect(frameSize({ ...coded, ratio: 1 })).toEqual(readJpegHeader(decode(bytes)));
  },
);

const ratios =
  '12/11 160/99 117/83 0/1 1/5 1/1 10/11 16/11 40/33 24/11 20/11 32/11 80/33 18/11 15/11 64/33 4/3 3/2 2/1 9/2 4/1 1/4';
const shapes = [
  ['98x1080', '4/1'],
  ['98x1080', '1/4'],
  ['640x480', '4/3'],
] as const;

test.each([
  ...mostDifferent(ratios.split(' '), 5).map((ratio) => ['720x576', ratio] as const),
  ...mostDifferent(shapes, 1),
])('the frame of a picture of %s with pixels of %s has square ones', (pixels, ratio) => {
  const bytes = encode(pixels, `-preset ultrafast -vf setsar=${ratio}:max=300`);
  const { size, pixelRatio } = readCodedPicture(bytes)!;
  const [width = 0, height = 1] = ratio.split('/').map(Number);
  expect(pixelRatio).toBeCloseTo(width === 0 ? 1 : width / height, 9);
  expect(frameSize({ ...size, ratio: pixelRatio })).toEqual(readJpegHeader(decode(bytes)));
});

/** Decodes a frame with the filters of captures. */
function decode(bytes: Buffer): Buffer {
  const outputs = '-map [frame] -frames:v 1 -f mjpeg pipe:1 -map [thumbnail] -f null -';
  return run(`-f h264 -i pipe:0 -filter_complex [0:v:0]${pictureBranches} ${outputs}`, bytes);
}
