import { beforeAll, describe, expect, test } from 'vitest';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { packetBytes, readPid } from '../../../../adapters/media/mpeg-ts/packet.ts';
import { createTableReader } from '../../../../adapters/media/mpeg-ts/psi.ts';
import { renumberPackets } from '../../../../adapters/media/mpeg-ts/tidy-transport-stream.ts';
import { createWholeUnits } from '../../../../adapters/media/mpeg-ts/whole-units.ts';
import { encodePictures, writePictures } from '../../../support/annex-b.ts';
import { record } from '../../../support/hls/recording.ts';

/** Two seconds with a key frame at the begin and after one second. */
let segment: Buffer;
let units: { at: number; isKeyFrame: boolean }[];
let videoPid: number;

beforeAll(async () => {
  segment = (await record({ keyFrameSeconds: 1, seconds: 8, size: '640x360', sound: true })).segments[1]!;
  const found = indexAccessUnits([segment])!;
  [units, videoPid] = [found.accessUnits, found.video.pid];
});

const packets = (bytes: Uint8Array): Buffer[] =>
  Array.from({ length: bytes.length / packetBytes }, (_, index) =>
    Buffer.from(bytes.subarray(index * packetBytes, (index + 1) * packetBytes)),
  );

/** Changes the video packets of the access unit with this index, by their place in it. */
function change(unit: number, alter: (packet: Buffer, place: number) => Buffer[]): Buffer {
  const [from, to] = [units[unit]!.at, units[unit + 1]?.at ?? segment.length];
  const inUnit = packets(segment.subarray(from, to));
  let place = 0;
  const altered = inUnit.flatMap((packet) =>
    readPid(packet) === videoPid ? alter(packet, place++) : [packet],
  );
  return Buffer.concat([segment.subarray(0, from), ...altered, segment.subarray(to)]);
}

const countUnits = (bytes: Uint8Array): number => indexAccessUnits([bytes])!.accessUnits.length;

describe('MPEG-TS of which packets are missing', () => {
  test('bytes without damage are the same array', () => {
    const reader = createWholeUnits();
    expect(reader.read(segment)).toBe(segment);
    expect(reader.isDamaged()).toBe(false);
  });

  test('a segment of many packets leaves turns of the event loop to others, and is read like a short one', async () => {
    const repeated = packets(segment).flatMap((packet) => [packet, packet]);
    const large = Buffer.concat(
      Array.from({ length: Math.ceil(30_000 / repeated.length) }, () => repeated).flat(),
    );
    let turns = 0;
    const count = (): void => void setImmediate(() => (turns += 1) < 100 && count());
    count();
    const read = await createWholeUnits().readInTurns(large);
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(Buffer.compare(read, createWholeUnits().read(large))).toBe(0);
    expect(read.length).toBeLessThan(large.length);
  });

  test.each([
    ['the first packet', 0],
    ['a packet', 3],
  ])('a picture without %s is left out, with those up to the next key frame', (_which, missing) => {
    const second = units.findLastIndex(({ isKeyFrame }) => isKeyFrame);
    const reader = createWholeUnits();
    reader.read(segment);
    const whole = reader.read(change(0, (packet, place) => (place === missing ? [] : [packet])));
    expect(reader.isDamaged()).toBe(true);
    const left = indexAccessUnits([whole])!.accessUnits;
    expect(left).toHaveLength(units.length - second);
    expect(left[0]?.isKeyFrame).toBe(true);
    expect(packets(whole).filter((packet) => readPid(packet) !== videoPid)).toEqual(
      packets(segment).filter((packet) => readPid(packet) !== videoPid),
    );
  });

  test.each<[string, (packet: Buffer, place: number) => Buffer[]]>([
    [
      'with the mark of a transport error',
      (packet, place) => [place === 2 ? withByte(packet, 1, 0x80) : packet],
    ],
    [
      'of which packets are missing where a receiver has marked a discontinuity',
      (packet, place) => (place === 2 ? [] : [place === 3 ? withDiscontinuity(packet) : packet]),
    ],
    ['of which sixteen packets are missing', (packet, place) => (place >= 2 && place < 18 ? [] : [packet])],
  ])('a picture %s is left out', (_kind, alter) => {
    const reader = createWholeUnits();
    expect(countUnits(reader.read(change(0, alter)))).toBeLessThan(units.length);
  });

  test.each<[string, (packet: Buffer, place: number) => Buffer[]]>([
    ['a repeated packet', (packet, place) => (place === 2 ? [packet, packet] : [packet])],
    [
      'a repeated packet with a clock reference of its own',
      (packet, place) => (place === 0 ? [packet, withByte(packet, 9, packet[9]! ^ 1)] : [packet]),
    ],
    ['garbage between packets', (packet, place) => (place === 2 ? [Buffer.alloc(77, 1), packet] : [packet])],
    [
      'empty packets',
      (packet) => [packet, Buffer.from([0x47, 0x1f, 0xff, 0x10, ...Array<number>(184).fill(0xff)])],
    ],
  ])('%s does not damage a picture', (_kind, alter) => {
    const reader = createWholeUnits();
    expect(countUnits(reader.read(change(0, alter)))).toBe(units.length);
    expect(reader.isDamaged()).toBe(false);
  });

  test('a segment may begin with any counter, and in the middle of a packet that the one before has begun', () => {
    const reader = createWholeUnits();
    const shifted = packets(segment).map((packet) => withCounter(packet, 5));
    expect(reader.read(segment)).toBe(segment);
    const next = Buffer.concat(shifted);
    const cut = 40 * packetBytes + 7;
    const joined = Buffer.concat([reader.read(next.subarray(0, cut)), reader.read(next.subarray(cut))]);
    expect(joined.equals(next)).toBe(true);
    expect(reader.isDamaged()).toBe(false);
  });

  test.each([
    ['H265', 'a slice', (picture: Buffer[]) => picture.slice(0, -1)],
    ['H264', 'all', () => []],
  ] as const)('a picture of %s of which a server has lost %s is a loss', (codec, _part, lose) => {
    const pictures = encodePictures(codec);
    const sent = pictures.map((picture, index) => (index === 3 ? lose(picture) : picture));
    const reader = createWholeUnits();
    // Up to the second key frame, all others are left out.
    expect(countUnits(reader.read(writePictures(codec, sent)))).toBe(3 + 10);
    expect(reader.isDamaged()).toBe(true);
  });

  test('a picture whose last packet is missing at the end of a segment is left out', () => {
    const pictures = writePictures('H264', encodePictures('H264'));
    const next = Buffer.concat(packets(pictures).map((packet) => withCounter(packet, 7)));
    const reader = createWholeUnits();
    expect(countUnits(reader.read(pictures.subarray(0, -packetBytes)))).toBe(19);
    expect(countUnits(reader.read(next))).toBe(20);
    expect(reader.isDamaged()).toBe(true);
  });

  test('the last picture of a stream that is cut is left out', () => {
    expect(countUnits(createWholeUnits({ isOpen: true }).read(segment))).toBe(units.length - 1);
  });

  test('nothing of the last picture of a stream that is cut is left, also if its packets are repeated', () => {
    const twice = Buffer.concat(packets(segment).flatMap((packet) => [packet, packet]));
    const whole = createWholeUnits({ isOpen: true }).read(segment);
    const video = (bytes: Uint8Array) => packets(bytes).filter((packet) => readPid(packet) === videoPid);
    expect(video(createWholeUnits({ isOpen: true }).read(twice))).toEqual(video(whole));
  });

  test('chunks for a decoder have counters that follow each other, and keep their bytes else', async () => {
    const twice = [segment, segment.subarray(packetBytes * 3)].map((chunk) => Buffer.from(chunk));
    const written: Uint8Array[] = [];
    for await (const chunk of renumberPackets(twice)) written.push(chunk);
    expect(written[0]).toBe(twice[0]);
    const reader = createWholeUnits();
    const joined = Buffer.concat(written);
    expect(reader.read(joined)).toBe(joined);
    expect(twice[1]!.equals(segment.subarray(packetBytes * 3))).toBe(true);
  });
});

test('tables over several packets, and several in one, are read', () => {
  const tables = packets(segment)
    .slice(0, 40)
    .filter((packet) => (packet[1]! & 0x40) !== 0);
  const pat = tables.find((packet) => readPid(packet) === 0)!;
  const pmtPid = pat.readUInt16BE(15) & 0x1fff;
  const pmt = tables.find((packet) => readPid(packet) === pmtPid)!;
  const section = pmt.subarray(5, 5 + 3 + (pmt.readUInt16BE(6) & 0x0fff));
  // Another table, then descriptors of 400 bytes in front of the streams.
  const long = Buffer.concat([section.subarray(0, 12), Buffer.alloc(400, 7), section.subarray(12)]);
  long.writeUInt16BE(0xb000 | (long.length - 3), 1);
  long.writeUInt16BE(0xf000 | 400, 10);
  const other = Buffer.from([0xc0, 0xb0, 4, 1, 2, 3, 4]);
  const content = Buffer.concat([Buffer.from([0]), other, long]);
  const reader = createTableReader();
  reader.read(pat);
  for (let at = 0; at < content.length; at += 184) {
    const part = Buffer.alloc(184, 0xff);
    content.copy(part, 0, at);
    const packet = Buffer.concat([
      Buffer.from([0x47, (at === 0 ? 0x40 : 0) | (pmtPid >> 8), pmtPid & 0xff, 0x10 | (at / 184)]),
      part,
    ]);
    expect(reader.video()).toBeNull();
    expect(reader.read(packet)).toBe(true);
  }
  expect(reader.video()?.pid).toBe(videoPid);
  expect(reader.packets()).toHaveLength(4);
});

function withByte(packet: Buffer, at: number, bits: number): Buffer {
  const changed = Buffer.from(packet);
  changed[at]! |= bits;
  return changed;
}

/** Replaces the begin of the payload with an adaptation field that indicates a discontinuity. */
function withDiscontinuity(packet: Buffer): Buffer {
  return Buffer.concat([
    withByte(packet.subarray(0, 4), 3, 0x20),
    Buffer.from([1, 0x80]),
    packet.subarray(6),
  ]);
}

function withCounter(packet: Buffer, by: number): Buffer {
  const changed = Buffer.from(packet);
  changed[3] = (changed[3]! & 0xf0) | ((changed[3]! + by) & 0x0f);
  return changed;
}
