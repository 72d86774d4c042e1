import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { createImageDecoder, type ImageDecoder } from '../../../adapters/media/ffmpeg/decode-image.ts';
import { poolDecoders } from '../../../adapters/media/ffmpeg/decoder-pool.ts';
import { ImageDecodeError, NoFrameDecodedError } from '../../../adapters/media/ffmpeg/errors.ts';
import { poolImageDecoders } from '../../../adapters/media/ffmpeg/image-pool.ts';
import { createJpegMark } from '../../../adapters/media/ffmpeg/single-jpeg.ts';
import { readCodedPicture } from '../../../adapters/media/h264/coded-picture.ts';
import { createMark } from '../../../adapters/media/h264/random-mark.ts';
import { writeTransportStream } from '../../../adapters/media/mpeg-ts/write-transport-stream.ts';
import { ffmpegPath } from '../../support/hls/recording.ts';
import { mutated } from './mutations.ts';

const never = new AbortController().signal;
const startCode = Buffer.from([0, 0, 0, 1]);

/** Records one key frame, and one frame after it, as NAL units. */
function record(picture: string, size: string, options: string): Buffer[] {
  const source = `-loglevel error -f lavfi -i ${picture}:size=${size}:rate=10 -frames:v 2 -c:v libx264 -pix_fmt yuv420p ${options} -f h264 pipe:1`;
  const bytes = spawnSync(ffmpegPath, source.replace('=:', '=').split(' ')).stdout;
  return bytes
    .toString('latin1')
    .replaceAll('\0\0\0\x01', '\0\0\x01')
    .split('\0\0\x01')
    .filter((unit) => unit !== '')
    .map((unit) => Buffer.from(unit, 'latin1'));
}

function joined(units: readonly Uint8Array[]): Buffer {
  return Buffer.concat(units.flatMap((unit) => [startCode, unit]));
}

/** Units of the key frame: up to the first slice of the next frame. */
function keyFrame(units: Buffer[]): Buffer[] {
  const next = units.findIndex((unit) => ((unit[0] ?? 0) & 0x1f) === 1);
  return next < 0 ? units : units.slice(0, next);
}

const isKeySlice = (unit: Uint8Array) => ((unit[0] ?? 0) & 0x1f) === 5;

/**
 * Requires that no picture of a hostile stream reaches another caller, nor another stream of the same caller, and that none of theirs reaches it. A case
 * is a key frame built from units of real ones, of the victims' too, and of marks, with damages and in any order.
 */
export function sharedDecoderProperty() {
  const victims = [
    { isOther: true, frame: keyFrame(record('testsrc=', '320x180', '-x264-params slices=1')) },
    { isOther: false, frame: keyFrame(record('smptebars=', '320x180', '-x264-params slices=1')) },
  ];
  const hostile = [
    record('color=red', '320x180', '-x264-params slices=1'),
    record('color=yellow', '320x180', '-x264-params slices=3'),
    record('color=yellow', '64x64', '-profile:v baseline'),
    record('color=red', '320x180', '-x264-params interlaced=1'),
  ];
  const mark = createMark().bytes;
  const units = [
    ...victims.flatMap(({ frame }) => frame.filter((unit) => !isKeySlice(unit))),
    ...hostile.flat(),
  ];
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...units.map((unit) => [unit])) },
    { weight: 3, arbitrary: fc.constantFrom(...hostile.map(keyFrame)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...units).chain((unit) => mutated(unit).map((bytes) => [bytes])),
    },
    { weight: 1, arbitrary: fc.constant([mark.subarray(4)]) },
  );
  const whole = fc.constantFrom(...hostile.map(keyFrame), ...hostile);
  const damagedSlice = whole.chain((frame) => {
    const index = frame.findIndex(isKeySlice);
    return mutated(frame[index] ?? Buffer.alloc(0)).map((slice) => frame.with(index, Buffer.from(slice)));
  });
  const frames = fc.constantFrom(...hostile.map(keyFrame));
  const delimiter = [Buffer.from([9, 0xf0])];
  const marked = fc
    .tuple(frames, fc.integer({ min: 1, max: 4 }), frames, fc.boolean(), fc.constantFrom(...units))
    .map(([first, marks, second, isDelimited, last]) => [
      ...first,
      ...Array.from({ length: marks }, () => [...(isDelimited ? delimiter : []), mark.subarray(4)]).flat(),
      ...(isDelimited ? delimiter : []),
      ...second,
      last,
    ]);
  const crafted = fc.oneof(
    { weight: 20, arbitrary: marked },
    { weight: 20, arbitrary: fc.array(piece, { minLength: 1, maxLength: 6 }).map((list) => list.flat()) },
    { weight: 2, arbitrary: damagedSlice },
    { weight: 1, arbitrary: whole },
  );
  let elapsedMs = 0;
  const pool = poolDecoders({
    ffmpegPath,
    ffmpeg: {
      run: async () => {
        throw new NoFrameDecodedError('Not in a shared process');
      },
    },
    maxProcesses: 3,
    // Each reading is a minute later, so that each idle process is replaced.
    elapsedMs: () => (elapsedMs += 60_000),
  });
  const decode = async (bytes: Uint8Array, caller: string): Promise<string | undefined> => {
    const chunks = [writeTransportStream('H264', [{ bytes, isKeyFrame: true, pts: 90_000 }])];
    const wanted = { mode: 'frames', clipSeconds: 0, caller } as const;
    const input = { kind: 'pipe', format: 'mpegts', chunks } as const;
    const output = await pool.run(input, wanted, { timeoutMs: 20_000 }, never).catch((error: unknown) => {
      if (!(error instanceof NoFrameDecodedError)) throw error;
      return undefined;
    });
    return output && Buffer.concat([output.frame, output.thumbnail]).toString('base64');
  };
  let cases = 0;
  // The pool gives up a kind of stream of a caller after two failures.
  const hostileCaller = () => `eve ${Math.floor(cases / 4)}`;
  const decodeVictims = () =>
    Promise.all(
      victims.map(async ({ frame, isOther }) => decode(joined(frame), isOther ? 'ada' : hostileCaller())),
    );
  let expected: (string | undefined)[] | undefined;
  return fc.asyncProperty(crafted, fc.boolean(), async (frame, together) => {
    expected ??= await decodeVictims();
    if (expected.includes(undefined)) throw new Error('A victim is not decoded in a shared process');
    const bytes = joined(frame);
    if (readCodedPicture(bytes) === null) return;
    cases += 1;
    const attack = decode(bytes, hostileCaller());
    if (!together) await attack;
    const [shown, seen] = await Promise.all([attack, decodeVictims()]);
    if (shown !== undefined && expected.includes(shown)) throw new Error('The hostile stream shows a victim');
    for (const [index, picture] of seen.entries())
      if (picture !== undefined && picture !== expected[index])
        throw new Error(`Stream ${index} shows another picture`);
  });
}

/** Requires the same of JPEGs: an upload that may be several pictures, between frames of captures. */
export function sharedImageProperty() {
  const jpeg = (picture: string) =>
    spawnSync(
      ffmpegPath,
      `-loglevel error -f lavfi -i ${picture}size=64x36 -frames:v 1 -f mjpeg pipe:1`.split(' '),
    ).stdout;
  const size = { width: 16, height: 9 };
  const [victim, red, yellow] = [jpeg('testsrc='), jpeg('color=red:'), jpeg('color=yellow:')];
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Uint8Array>(red, yellow, createJpegMark()) },
    { weight: 1, arbitrary: fc.constantFrom(red, yellow).chain(mutated) },
  );
  const refused: ImageDecoder['decode'] = async () => {
    throw new ImageDecodeError('Not in a shared process');
  };
  const alone = { ...createImageDecoder({ ffmpegPath }), decode: refused };
  const pool = poolImageDecoders({ ffmpegPath, alone });
  const crafted = fc
    .array(piece, { minLength: 1, maxLength: 5 })
    .map((pieces) => new Uint8Array(Buffer.concat(pieces)));
  const decode = async (bytes: Uint8Array) =>
    pool.decode(bytes, size, never).catch((error: unknown) => {
      if (!(error instanceof ImageDecodeError)) throw error;
    });
  let count = 0;
  let expected: Uint8Array | undefined;
  return fc.asyncProperty(crafted, async (upload) => {
    // A comment makes each frame another one, which the pool has not decoded before.
    const comment = Buffer.from([0xff, 0xfe, 0, 6, 0, 0, 0, 0]);
    comment.writeUInt32BE((count += 1), 4);
    const frame = Buffer.concat([victim.subarray(0, 2), comment, victim.subarray(2)]);
    expected ??= (await decode(victim)) ?? undefined;
    if (expected === undefined) throw new Error('A frame is not decoded in a shared process');
    const [shown, seen] = await Promise.all([decode(upload), decode(frame)]);
    if (shown && Buffer.compare(shown, expected) === 0) throw new Error('The upload shows the frame');
    if (seen && Buffer.compare(seen, expected) !== 0) throw new Error('The frame shows another picture');
  });
}
