import { expect, test } from 'vitest';
import { clearGap } from '../../../../adapters/embedded/sqlite/vacuum.ts';

const pageBytes = 512;
/** A page of a table with two rows in its last 100 bytes, full of old bytes. */
function leaf({ type = 0x0d, at = 0 } = {}): Buffer {
  const page = Buffer.alloc(pageBytes, 0x61);
  page[at] = type;
  page.writeUInt16BE(2, at + 3);
  page.writeUInt16BE(pageBytes - 100, at + 5);
  return page;
}
const oldBytes = (page: Buffer) => page.filter((byte) => byte === 0x61).length;

test.each([
  [0x0a, 8],
  [0x0d, 8],
  [0x02, 12],
  [0x05, 12],
])('a page of type %i keeps its header of %i bytes, its list and its rows', (type, headerBytes) => {
  const page = leaf({ type });
  const before = Buffer.from(page);
  expect(clearGap(page, 3)).toBe(true);
  const begin = headerBytes + 4;
  expect(page.subarray(0, begin)).toEqual(before.subarray(0, begin));
  expect(page.subarray(begin, -100).every((byte) => byte === 0)).toBe(true);
  expect(page.subarray(-100)).toEqual(before.subarray(-100));
  expect(clearGap(page, 3)).toBe(false);
});

test('the first page has the header of the file before its own', () => {
  const page = leaf({ at: 100 });
  expect(clearGap(page, 1)).toBe(true);
  expect(page.subarray(0, 100).every((byte) => byte === 0x61)).toBe(true);
});

test.each([
  ['a list of what pages are for', leaf(), 2],
  ['a later one', leaf(), 2 + 103],
  ['a page of a long row', leaf({ type: 0 }), 3],
  [
    'a page whose rows begin behind its end',
    Buffer.from([0x0d, 0, 0, 0, 2, 9, 0, 0, ...leaf().subarray(8)]),
    3,
  ],
])('%s is not changed', (_, page, number) => {
  const before = oldBytes(page);
  expect(clearGap(page, number)).toBe(false);
  expect(oldBytes(page)).toBe(before);
});
