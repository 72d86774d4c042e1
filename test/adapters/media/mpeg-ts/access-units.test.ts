import { beforeAll, expect, test } from 'vitest';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { keyFrameOffsetsTs } from '../../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import {
  findPacket,
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from '../../../../adapters/media/mpeg-ts/packet.ts';
import { ptsDifference, readPts, shiftTimestamps } from '../../../../adapters/media/mpeg-ts/pes-packet.ts';
import { record } from '../../../support/hls/recording.ts';

let whole: Buffer;

beforeAll(async () => {
  whole = (await record({ keyFrameSeconds: 1, seconds: 4, size: '640x360' })).segments[1]!;
});

test('an access unit over several PES packets is counted once', () => {
  const { accessUnits, video } = indexAccessUnits([whole])!;
  expect(accessUnits.length).toBeGreaterThan(10);
  expect(indexAccessUnits([insertSecondPacket(video.pid)])?.accessUnits).toEqual(accessUnits);
});

test('a segment with garbage between packets or without PSI is not indexed', () => {
  expect(indexAccessUnits([Buffer.concat([Buffer.alloc(500, 'x'), whole])])).toBeNull();
  const { psi } = indexAccessUnits([whole])!;
  const rest = splitPackets(whole).filter((packet) => !psi.some((each) => readPid(each) === readPid(packet)));
  expect(indexAccessUnits([Buffer.concat(rest)])).toBeNull();
});

test('a segment that repeats a packet which begins an access unit is not indexed', () => {
  const { accessUnits, video } = indexAccessUnits([whole])!;
  const { at } = accessUnits.find(({ isKeyFrame }) => isKeyFrame)!;
  const begin = whole.subarray(at, at + packetBytes);
  const repeated = (count: number) => Buffer.concat([whole, ...Array.from({ length: count }, () => begin)]);
  expect(readPid(begin)).toBe(video.pid);
  expect(indexAccessUnits([repeated(1000)])?.accessUnits).toHaveLength(accessUnits.length + 1000);
  expect(indexAccessUnits([repeated(6000)])).toBeNull();
  expect(keyFrameOffsetsTs(repeated(6000))).toBeNull();
});

test('a segment that consists of tables is read up to a number of them', () => {
  const { psi } = indexAccessUnits([whole])!;
  const [pat] = splitPackets(whole).filter((packet) => readPid(packet) === 0);
  const tables = (count: number) => Buffer.concat([...Array.from({ length: count }, () => pat!), whole]);
  expect(indexAccessUnits([tables(10_000)])?.psi).toHaveLength(psi.length);
  expect(indexAccessUnits([tables(20_000)])).toBeNull();
});

test('the next packet is found after garbage that contains sync bytes', () => {
  const garbage = Buffer.from('xxGxxGx');
  expect(findPacket(Buffer.concat([garbage, whole]), 0)).toBe(garbage.length);
  expect(findPacket(garbage.subarray(0, 2), 0)).toBe(2);
});

test('the payload of a packet without a payload is empty', () => {
  const packet = Buffer.alloc(packetBytes, 0xff);
  packet[3] = 0x20;
  packet[4] = 10;
  expect(packetPayload(packet)).toHaveLength(0);
});

test('shifted timestamps wrap at 33 bits and keep their difference', () => {
  const { accessUnits } = indexAccessUnits([whole])!;
  const pes = packetPayload(
    Buffer.from(whole.subarray(accessUnits[0]!.at, accessUnits[0]!.at + packetBytes)),
  );
  const before = readPts(pes)!;
  for (const by of [2 ** 33 - 1000, -before - 5, 90_000]) {
    const from = readPts(pes)!;
    shiftTimestamps(pes, by);
    expect(readPts(pes)).toBe((((from + by) % 2 ** 33) + 2 ** 33) % 2 ** 33);
  }
  expect(ptsDifference(2 ** 33 - 5, 10)).toBe(15);
  expect(ptsDifference(10, 2 ** 33 - 5)).toBe(-15);
});

function splitPackets(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length / packetBytes }, (_, index) =>
    bytes.subarray(index * packetBytes, (index + 1) * packetBytes),
  );
}

/** The first packet within an access unit of that stream starts another PES packet, without a PTS. */
function insertSecondPacket(videoPid: number): Buffer {
  const bytes = Buffer.from(whole);
  for (const packet of splitPackets(bytes)) {
    if (readPid(packet) !== videoPid || startsPayloadUnit(packet)) continue;
    packet[1] = packet[1]! | 0x40;
    packetPayload(packet).set([0, 0, 1, 0xe0, 0, 0, 0x80, 0, 0]);
    return bytes;
  }
  throw new Error('Every access unit fits into one packet');
}
