import { randomBytes } from 'node:crypto';

const markers = { start: 0xd8, end: 0xd9, scan: 0xda, baseline: 0xc0 };
/** Segments that a picture needs: tables, restart interval and header. */
const kept = new Set([0xdb, 0xc4, 0xdd, markers.baseline]);
/** JFIF header and comment: without influence on the pixels, and with room for other pictures. */
const omitted = new Set([0xe0, 0xfe]);

/**
 * Returns a JPEG that is exactly one baseline picture in one scan, reduced to what a decoder needs, as the frames of
 * captures are. Returns null in any doubt: a decoder that reads several JPEGs behind each other may then find another
 * number of pictures.
 */
export function readSingleJpeg(jpeg: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== markers.start) return null;
  const parts = [bytes.subarray(0, 2)];
  let pictures = 0;
  for (let offset = 2; offset + 4 <= bytes.length;) {
    const marker = bytes[offset + 1] ?? 0;
    const end = offset + 2 + bytes.readUInt16BE(offset + 2);
    if (bytes[offset] !== 0xff || end - offset < 4 || end >= bytes.length) return null;
    if (marker === markers.baseline) pictures += 1;
    if (marker === markers.scan)
      return pictures === 1 && endsWithScan(bytes, end)
        ? Buffer.concat([...parts, bytes.subarray(offset)])
        : null;
    if (kept.has(marker)) parts.push(bytes.subarray(offset, end));
    else if (!omitted.has(marker)) return null;
    offset = end;
  }
  return null;
}

/**
 * Returns true if the coded data from `start` on has only stuffed bytes and restart markers, up to the end marker in
 * the last two bytes.
 */
function endsWithScan(bytes: Buffer, start: number): boolean {
  for (let offset = bytes.indexOf(0xff, start); offset >= 0; offset = bytes.indexOf(0xff, offset + 2)) {
    const next = bytes[offset + 1] ?? -1;
    if (next === markers.end) return offset === bytes.length - 2;
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return false;
  }
  return false;
}

/** Creates a JPEG of 16 × 16 pixels in four random colors, which nobody can guess. */
export function createJpegMark(): Buffer {
  // Each block is a Huffman code of one bit, 8 random bits of its mean, and the end of the block.
  const bits = [...randomBytes(12)].map((byte) => `0${byte.toString(2).padStart(8, '0')}0`).join('');
  const data = (bits.padEnd(120, '1').match(/.{8}/g) ?? []).map((digits) => Number.parseInt(digits, 2));
  const components = [1, 2, 3];
  return Buffer.from([
    0xff,
    markers.start,
    ...segment(0xdb, [0, ...Array<number>(64).fill(1)]),
    ...segment(markers.baseline, [8, 0, 16, 0, 16, 3, ...components.flatMap((id) => [id, 0x11, 0])]),
    ...segment(0xc4, [0x00, ...oneCode, 8, 0x10, ...oneCode, 0]),
    ...segment(markers.scan, [3, ...components.flatMap((id) => [id, 0]), 0, 63, 0]),
    ...data.flatMap((byte) => (byte === 0xff ? [0xff, 0] : [byte])),
    0xff,
    markers.end,
  ]);
}

/** Lengths of the codes of a table with one code, of one bit. */
const oneCode = [1, ...Array<number>(15).fill(0)];

function segment(marker: number, content: number[]): number[] {
  const length = content.length + 2;
  return [0xff, marker, length >> 8, length & 0xff, ...content];
}
