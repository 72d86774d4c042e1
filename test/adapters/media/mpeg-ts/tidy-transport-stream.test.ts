import { describe, expect, test } from 'vitest';
import { h264Units, h265Units } from '../../../../adapters/media/h264/entry-point.ts';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { packetBytes, packetPayload } from '../../../../adapters/media/mpeg-ts/packet.ts';
import { tidyTransportStream } from '../../../../adapters/media/mpeg-ts/tidy-transport-stream.ts';
import { listUnits } from '../../../../adapters/media/mpeg-ts/unit-begin.ts';
import { encodePictures, writePictures } from '../../../support/annex-b.ts';

const trim = (unit: Buffer) => unit.subarray(0, unit.findLastIndex((byte) => byte !== 0) + 1);

/** Returns the units of a transport stream that has nothing but video, as texts. */
function readUnits(bytes: Buffer | null): string[] | undefined {
  const packets = Array.from(
    { length: (bytes?.length ?? 0) / packetBytes },
    (_, index) => index * packetBytes,
  );
  return bytes === null
    ? undefined
    : indexAccessUnits([bytes])!.accessUnits.flatMap(({ at }, index, all) => {
        const end = all[index + 1]?.at ?? Infinity;
        const payloads = packets
          .filter((packet) => packet >= at && packet < end)
          .map((packet) => packetPayload(bytes.subarray(packet, packet + packetBytes)));
        return Array.from(listUnits(payloads), (unit) => trim(Buffer.from(unit)).toString('latin1'));
      });
}

describe.each([h264Units, h265Units])('a transport stream of $codec', (rules) => {
  const { codec } = rules;
  const information = codec === 'H264' ? [6] : [39, 40];
  const pictures = encodePictures(codec).map((units) =>
    units.filter((unit) => !information.includes(rules.readType(unit[0]!))).map(trim),
  );
  const whole = readUnits(writePictures(codec, pictures));
  const isSlice = (unit: Uint8Array) => rules.isSlice(rules.readType(unit[0]!));
  const sets = pictures[0]!.filter((unit) => !isSlice(unit) && unit.length > 3);
  const tidy = (sent: readonly (readonly Buffer[])[], isDamaged = false) =>
    tidyTransportStream(writePictures(codec, sent), { isDamaged });
  const insert = (units: Buffer[], at: number) =>
    pictures.map((picture) => picture.toSpliced(at, 0, ...units));

  test('it is not written again without a fault that is known', () => {
    expect(tidy(pictures)).toBe(null);
  });

  test('it is written without parameter sets between slices, if they are those before', () => {
    expect(readUnits(tidy(insert(sets, -1)))).toEqual(whole);
    const other = Buffer.from(sets.at(-1)!);
    other[other.length - 1]! ^= 0x40;
    expect(tidy(insert([other], -1))).toBe(null);
  });

  test('it is written without information, unless a picture is damaged', () => {
    const text = Buffer.from(codec === 'H264' ? [6, 5, 1, 1, 0x80] : [78, 1, 5, 1, 1, 0x80]);
    expect(readUnits(tidy(insert([text], -4)))).toEqual(whole);
    expect(tidy(insert([text], -4), true)).toBe(null);
  });

  test('it is not written again with several pictures in one unit', () => {
    const joined = pictures.map((picture) => [...picture, ...sets, ...pictures[1]!]);
    expect(tidy(joined)).toBe(null);
  });

  test.each([-1, 1, 0])(
    'it is written with no length of PES packets where one differs by %i',
    (difference) => {
      const bytes = writePictures(codec, pictures);
      const { accessUnits } = indexAccessUnits([bytes])!;
      const payloads = Array.from({ length: bytes.length / packetBytes }, (_, index) => index * packetBytes)
        .filter((at) => at >= accessUnits[2]!.at && at < accessUnits[3]!.at)
        .map((at) => packetPayload(bytes.subarray(at, at + packetBytes)));
      const length = payloads.reduce((sum, payload) => sum + payload.length, 0) - 6 + difference;
      payloads[0]!.set([length >> 8, length & 0xff], 4);
      const tidied = tidyTransportStream(bytes, { isDamaged: true });
      expect(readUnits(tidied)).toEqual(difference === 0 ? undefined : whole);
    },
  );
});
