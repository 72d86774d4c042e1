import { beforeAll, expect, it } from 'vitest';
import {
  packetBytes,
  packetPayload,
  indexTransportStream,
  startsPayloadUnit,
} from '../../../../adapters/media/hls/transport-stream.ts';
import { record } from '../../../support/hls/recording.ts';

let whole: Buffer;

beforeAll(async () => {
  whole = (await record({ keyFrameSeconds: 1, seconds: 4, size: '640x360' })).segments[1]!;
});

it('an access unit over several PES packets counts once', () => {
  const { accessUnits: pictures, videoPid } = indexTransportStream(whole)!;
  expect(pictures.length).toBeGreaterThan(10);
  expect(indexTransportStream(insertSecondPacket(videoPid))?.accessUnits).toEqual(pictures);
});

/** The first packet within an access unit of that stream starts another PES packet, without a PTS. */
function insertSecondPacket(videoPid: number): Buffer {
  const bytes = Buffer.from(whole);
  for (let at = 0; at < bytes.length; at += packetBytes) {
    const packet = bytes.subarray(at, at + packetBytes);
    if ((packet.readUInt16BE(1) & 0x1fff) !== videoPid || startsPayloadUnit(packet)) continue;
    packet[1] = packet[1]! | 0x40;
    packetPayload(packet).set([0, 0, 1, 0xe0, 0, 0, 0x80, 0, 0]);
    return bytes;
  }
  throw new Error('Every access unit fits into one packet');
}
