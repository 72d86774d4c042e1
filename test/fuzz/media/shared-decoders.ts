import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { createImageDecoder, type ImageDecoder } from '../../../adapters/media/ffmpeg/decode-image.ts';
import { poolDecoders } from '../../../adapters/media/ffmpeg/decoder-pool.ts';
import { ImageDecodeError, NoFrameDecodedError } from '../../../adapters/media/ffmpeg/errors.ts';
import { createDecodeTurns } from '../../../adapters/embedded/load/limit-decodes.ts';
import { poolImageDecoders } from '../../../adapters/media/ffmpeg/image-pool.ts';
import { createJpegMark } from '../../../adapters/media/ffmpeg/single-jpeg.ts';
import { startDecoder } from '../../../adapters/media/ffmpeg/decoder-process.ts';
import type { FfmpegOutput } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createBitWriter } from '../../../adapters/media/h264/bits.ts';
import { readCodedPicture } from '../../../adapters/media/h264/coded-picture.ts';
import { createMark } from '../../../adapters/media/h264/random-mark.ts';
import { writeTransportStream } from '../../../adapters/media/mpeg-ts/write-transport-stream.ts';
import { thumbnail } from '../../../core/records/capture.ts';
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

/** Crafted key frame. Its luma is that of its whole picture, if it was written with a single color. */
type Crafted = { units: Uint8Array[]; luma: number | null };

const crafted = (units: Uint8Array[]): Crafted => ({ units, luma: null });

/** Size of all pictures that share a process. */
const [columns, rows] = [4, 3];
const size = `${columns * 16}x${rows * 16}`;
const pcmMacroblock = 25;

/**
 * Writes a key frame of one color, whose headers vary in all that readers of single pictures ignore: order and number
 * of pictures that a decoder holds back, ids, references, what happens to earlier pictures. Some lack their last
 * macroblocks or repeat some.
 */
const written: fc.Arbitrary<Crafted> = fc
  .record({
    luma: fc.integer({ min: 20, max: 230 }),
    profile: fc.constantFrom(66, 77, 88, 100),
    level: fc.constantFrom(10, 31, 51),
    spsId: fc.nat(31),
    ppsId: fc.nat(255),
    frameNumberBits: fc.integer({ min: 4, max: 16 }),
    orderBits: fc.option(fc.integer({ min: 4, max: 16 })),
    order: fc.nat(15),
    references: fc.nat(16),
    flags: fc.array(fc.nat(1), { minLength: 12, maxLength: 12 }),
    // The decoder holds pictures back, and each costs the wait for one more mark.
    held: fc.option(
      fc.oneof(
        { weight: 30, arbitrary: fc.constant([0, 1]) },
        { weight: 1, arbitrary: fc.tuple(fc.nat(16), fc.nat(16)) },
      ),
    ),
    idrId: fc.nat(65_535),
    referenceLevel: fc.integer({ min: 1, max: 3 }),
    slices: fc.integer({ min: 1, max: 4 }),
    missing: fc.oneof(
      { weight: 12, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: -2, max: 3 }) },
    ),
    extra: fc.subarray([
      Buffer.from([9, 0xf0]),
      Buffer.from([6, 5, 1, 1, 0x80]),
      Buffer.from([12, 0xff, 0x80]),
    ]),
  })
  .map((picture) => {
    const { luma, flags, orderBits, held, referenceLevel } = picture;
    const [f0 = 0, f1 = 0, f2 = 0, f3 = 0, f4 = 0, f5 = 0, f6 = 0, f7 = 0, f8 = 0] = flags;
    const sps = createBitWriter()
      .bits(picture.profile, 8)
      .bits(0, 8)
      .bits(picture.level, 8)
      .unsigned(picture.spsId);
    // 4:2:0 of 8 bits, no bypass, no scaling lists.
    if (picture.profile === 100) sps.unsigned(1).unsigned(0).unsigned(0).bits(0, 2);
    sps.unsigned(picture.frameNumberBits - 4);
    if (orderBits === null) sps.unsigned(2);
    else sps.unsigned(0).unsigned(orderBits - 4);
    sps
      .unsigned(picture.references)
      .bits(f0, 1)
      .unsigned(columns - 1)
      .unsigned(rows - 1)
      .bits(1, 1)
      .bits(f1, 1);
    sps.bits(0, 1).bits(held ? 1 : 0, 1);
    if (held) {
      // Usability information with a bitstream restriction only.
      sps.bits(0, 8).bits(0b1, 1).bits(f2, 1).unsigned(f3).unsigned(f4).unsigned(10).unsigned(10);
      sps.unsigned(Math.min(...held)).unsigned(Math.max(...held));
    }
    const pps = createBitWriter().unsigned(picture.ppsId).unsigned(picture.spsId).bits(0, 1).bits(f5, 1);
    pps.unsigned(0).unsigned(f6).unsigned(f7).bits(0, 3).unsigned(0).unsigned(0).unsigned(0).bits(0b100, 3);
    const all = columns * rows;
    const starts = Array.from({ length: picture.slices }, (_, index) =>
      Math.floor((index * all) / picture.slices),
    );
    const slices = starts.map((start, index) => {
      const end = starts[index + 1] ?? all - picture.missing;
      const slice = createBitWriter()
        .unsigned(start)
        .unsigned(7)
        .unsigned(picture.ppsId)
        .bits(0, picture.frameNumberBits);
      slice.unsigned(picture.idrId);
      if (orderBits !== null) slice.bits(picture.order, orderBits);
      if (orderBits !== null && f5 === 1) slice.unsigned(0);
      slice
        .bits(f8, 1)
        .bits(flags[9] ?? 0, 1)
        .unsigned(0)
        .unsigned(1);
      const samples = Buffer.concat([Buffer.alloc(256, luma), Buffer.alloc(128, 128)]);
      for (let at = start; at < end; at += 1) slice.unsigned(pcmMacroblock).bytes(samples);
      return slice.end((referenceLevel << 5) | 5);
    });
    const units = [sps.end(0x67), pps.end(0x68), ...slices].map((unit) => unit.subarray(4));
    return { units: [...picture.extra, ...units], luma };
  });

/** Crafted key frames that a case of the fuzz puts between two decodes of the victims. */
export const batch = 10;

/**
 * Requires that no picture of a hostile stream reaches another caller, nor another stream of the same caller, and that
 * none of theirs reaches it. A case is a key frame: written, or built from units of real ones, of the victims' too, and
 * of marks, with damages and in any order. Most of the latter are refused before a decoder reads them. A run has a
 * batch of cases between two pictures of the victims: a picture that is late stays late, and a damaged one ends its
 * process.
 */
export function sharedDecoderProperty() {
  const victims = [
    { isOther: true, frame: keyFrame(record('testsrc=', size, '-x264-params slices=1')) },
    { isOther: false, frame: keyFrame(record('smptebars=', size, '-x264-params slices=1')) },
  ];
  const known = new Set(
    victims.map(({ frame }) => readCodedPicture(joined(frame))?.bytes.toString('latin1')),
  );
  const hostile = [
    record('color=red', size, '-x264-params slices=1'),
    record('color=yellow', size, '-x264-params slices=3'),
    record('color=yellow', '64x64', '-profile:v baseline'),
    record('color=red', size, '-x264-params interlaced=1'),
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
  const keyFrames = fc.oneof(
    { weight: 60, arbitrary: written },
    { weight: 15, arbitrary: marked.map(crafted) },
    {
      weight: 15,
      arbitrary: fc.array(piece, { minLength: 1, maxLength: 6 }).map((list) => crafted(list.flat())),
    },
    { weight: 2, arbitrary: damagedSlice.map(crafted) },
    { weight: 8, arbitrary: whole.map(crafted) },
  );
  const counts = { cases: 0, decoded: 0, shown: 0 };
  let elapsedMs = 0;
  const pool = poolDecoders({
    ffmpegPath,
    ffmpeg: {
      run: async () => {
        throw new NoFrameDecodedError('Not in a shared process');
      },
      runAll: async () => [],
    },
    maxProcesses: 3,
    // Each reading is a minute later, so that each idle process is replaced.
    elapsedMs: () => (elapsedMs += 60_000),
    start: (frameSize) => {
      const decoder = startDecoder(ffmpegPath, frameSize);
      return {
        ...decoder,
        decode: async (keyFrames, ...limits) => {
          const pictures = await decoder.decode(keyFrames, ...limits);
          const read = keyFrames.slice(0, pictures.length + 1);
          counts.decoded += read.filter((bytes) => !known.has(Buffer.from(bytes).toString('latin1'))).length;
          if (pictures.length < keyFrames.length) failures += 1;
          return pictures;
        },
      };
    },
  });
  /** Decodes the first frame, or the thumbnails of a scan up to one that fails. */
  const decode = async (
    keyFrames: readonly (readonly Uint8Array[])[],
    caller: string,
    scans: boolean,
  ): Promise<FfmpegOutput[]> => {
    const chunks = keyFrames.map((units) =>
      writeTransportStream('H264', [{ bytes: joined(units), isKeyFrame: true, pts: 90_000 }]),
    );
    const wanted = { mode: 'frames', clipSeconds: 0, caller } as const;
    const input = { kind: 'pipe', format: 'mpegts', chunks: scans ? chunks : chunks.slice(0, 1) } as const;
    if (scans) {
      const pictures = await pool.runAll(input, { caller }, { timeoutMs: 20_000 }, never);
      return pictures.map((picture) => ({ thumbnail: picture!.thumbnail, frame: new Uint8Array() }));
    }
    return pool.run(input, wanted, { timeoutMs: 20_000 }, never).then(
      (output) => [output],
      (error: unknown) => {
        if (!(error instanceof NoFrameDecodedError)) throw error;
        return [];
      },
    );
  };
  /**
   * The pool gives up a kind of stream of a caller after two failures, which end their process: another caller begins
   * then.
   */
  let failures = 0;
  const hostileCaller = () => `eve ${failures}`;
  const decodeVictims = async (caller: string, scans: boolean) => {
    const outputs = await Promise.all(
      victims.map(({ frame, isOther }) => decode([frame], isOther ? 'ada' : caller, scans)),
    );
    return outputs.map(([output]) => output && toText(output));
  };
  const expectedOf = new Map<boolean, (string | undefined)[]>();
  const property = fc.asyncProperty(
    fc.array(keyFrames, { minLength: batch, maxLength: batch }),
    fc.boolean(),
    fc.boolean(),
    async (attacks, together, scans) => {
      const expected = expectedOf.get(scans) ?? (await decodeVictims('eve', scans));
      expectedOf.set(scans, expected);
      if (expected.includes(undefined)) throw new Error('A victim is not decoded in a shared process');
      const caller = hostileCaller();
      const attack = async () => {
        for (let left = attacks; left.length > 0;) {
          const tried = scans ? left : left.slice(0, 1);
          const keyFrames = tried.map(({ units }) => units);
          const shown = await decode(keyFrames, hostileCaller(), scans);
          for (const [index, picture] of shown.entries()) {
            const { luma } = tried[index]!;
            if (expected.includes(toText(picture))) throw new Error('The hostile stream shows a victim');
            if (luma !== null && !hasLuma(picture, luma))
              throw new Error('A written picture shows another one');
          }
          const done = Math.min(tried.length, shown.length + 1);
          counts.cases += done;
          counts.shown += shown.length;
          left = left.slice(done);
        }
      };
      const attacking = attack();
      if (!together) await attacking;
      const [seen] = await Promise.all([
        decodeVictims(together ? caller : hostileCaller(), scans),
        attacking,
      ]);
      for (const [index, picture] of seen.entries())
        if (picture !== undefined && picture !== expected[index])
          throw new Error(`Stream ${index} shows another picture`);
    },
  );
  return { property, counts };
}

function toText({ frame, thumbnail: planes }: FfmpegOutput): string {
  return Buffer.concat([frame, planes]).toString('base64');
}

function hasLuma({ thumbnail: planes }: FfmpegOutput, luma: number): boolean {
  return planes.subarray(0, thumbnail.width * thumbnail.height).every((level) => Math.abs(level - luma) <= 2);
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
  const clock = { elapsedMs: () => performance.now(), setTimer: () => () => undefined };
  const alone = { ...createImageDecoder({ ffmpegPath }), decode: refused };
  const pool = poolImageDecoders({
    ffmpegPath,
    alone,
    elapsedMs: clock.elapsedMs,
    createTurns: () => createDecodeTurns({ ...clock, max: 1, reserved: 0, report: () => undefined }),
  });
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
