/** Reads width and height from the start-of-frame segment of a JPEG. Throws if the segment is missing. */
export function jpegSize(jpeg: Uint8Array): { width: number; height: number } {
  const bytes = Buffer.from(jpeg);
  let at = 2;
  while (at < bytes.length) {
    const marker = bytes[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xc3) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  throw new Error('The data is not a JPEG');
}
