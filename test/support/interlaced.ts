import { createBitWriter } from '../../adapters/media/h264/bits.ts';
import { writeTransportStream } from '../../adapters/media/mpeg-ts/write-transport-stream.ts';

/** Macroblocks of a field, and the type of those with plain samples in an I slice. */
const [wide, high, plainSamples] = [2, 1, 25];

/** H.264 Main, level 3: frame numbers and order in 8 bits, two references, pictures that may be fields. */
const sequenceSet = (() => {
  const writer = createBitWriter().bits(77, 8).bits(0, 8).bits(30, 8);
  for (const value of [0, 4, 0, 4, 2]) writer.unsigned(value);
  return writer
    .bits(0, 1)
    .unsigned(wide - 1)
    .unsigned(high - 1)
    .bits(0b001000, 6)
    .end(0x67);
})();
/** One reference per list, and control of the deblocking filter. */
const pictureSet = createBitWriter().bits(0b1100111000111100, 16).end(0x68);

/** Writes a field of one level; without a level, it repeats the field before. */
function writeField(number: number, parity: 0 | 1, level?: number): Buffer {
  const isKey = level !== undefined && parity === 0;
  const writer = createBitWriter()
    .unsigned(0)
    .unsigned(level === undefined ? 5 : 7)
    .unsigned(0);
  writer.bits(number, 8).bits(1, 1).bits(parity, 1);
  if (isKey) writer.unsigned(0);
  writer.bits(2 * number + parity, 8);
  if (level === undefined) writer.bits(0, 2);
  writer
    .bits(0, isKey ? 2 : 1)
    .unsigned(0)
    .unsigned(1);
  if (level === undefined) writer.unsigned(wide * high);
  else
    for (let block = 0; block < wide * high; block += 1)
      writer.unsigned(plainSamples).bytes(Buffer.alloc(384, level));
  return writer.end(isKey ? 0x65 : 0x61);
}

/**
 * Fields of three frames of interlaced video, in Annex B format: a key frame whose fields have levels, and two frames
 * that repeat it.
 */
export const fields: readonly Buffer[] = [
  Buffer.concat([sequenceSet, pictureSet, writeField(0, 0, 60)]),
  writeField(0, 1, 180),
  writeField(1, 0),
  writeField(1, 1),
  writeField(2, 0),
  writeField(2, 1),
];

/** Writes a number of fields as MPEG-TS, each a unit of its own. */
export function writeFields(count = fields.length): Buffer {
  const units = fields.map((bytes, index) => ({ bytes, isKeyFrame: index === 0, pts: 1800 * (index + 1) }));
  return writeTransportStream('H264', units.slice(0, count));
}
