import { expect, test } from 'vitest';
import { wholeBoxes } from '../../../../../adapters/media/hls/segments/fetch-segments.ts';

function box(type: string, length: number, size = length + 8): Buffer {
  const bytes = Buffer.alloc(length + 8, 0xee);
  bytes.writeUInt32BE(size);
  bytes.write(type, 4);
  return bytes;
}

const first = Buffer.concat([box('styp', 8), box('moof', 30), box('mdat', 100)]);
const second = Buffer.concat([box('moof', 30), box('mdat', 100)]);
const cutMedia = box('mdat', 60, 108);

test.each([
  ['whole fragments', [first, second], 2],
  ['media that end early', [first, box('moof', 30), cutMedia], 1],
  ['media with a hole, behind which a fragment follows', [first, box('moof', 30), cutMedia, second], 1],
  ['a fragment whose media are missing', [first, box('moof', 30)], 1],
  ['nothing whole', [box('moof', 30), cutMedia], 0],
])('%s are reduced to whole fragments', (_, parts, fragments) => {
  const remaining = Buffer.concat([first, second]).subarray(0, [0, first.length, undefined][fragments]);
  expect(Buffer.from(wholeBoxes(Buffer.concat(parts)))).toEqual(remaining);
});

test.each([
  ['a length up to the end', [first, box('moof', 30), box('mdat', 60, 0)]],
  ['some bytes behind the last box', [first, Buffer.alloc(3)]],
  ['what is no fragmented MP4', [Buffer.from('sound of another kind')]],
])('%s is no damage', (_, parts) => {
  const bytes = Buffer.concat(parts);
  expect(Buffer.from(wholeBoxes(bytes))).toEqual(bytes);
});
