/** Size of a JPEG in pixels, from its header. */
export type JpegHeader = { width: number; height: number };

const start = 0xd8;
const end = 0xd9;
const scan = 0xda;
/** Start-of-frame markers of baseline, extended and progressive JPEG, which common decoders support. */
const startOfFrameMarkers = new Set([0xc0, 0xc1, 0xc2]);
/** Start-of-frame markers of lossless, hierarchical and arithmetic coding, which common decoders do not support. */
const unsupportedFrameMarkers = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);

/** Maximum segments in front of the first scan. Pictures have some ten, with a color profile up to 255 more. */
const maxSegments = 1000;

/**
 * Reads the segments from the start marker to the first scan, without the thumbnails in them. Returns undefined if a
 * segment is malformed or unsupported, if there are too many, or if the image has no pixels.
 */
export function readJpegHeader(bytes: Uint8Array): JpegHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] !== 0xff || bytes[1] !== start) return undefined;
  let header: JpegHeader | undefined;
  let segments = 0;
  for (let offset = 2; offset + 4 <= bytes.length;) {
    if (bytes[offset] !== 0xff) return undefined;
    const marker = view.getUint8(offset + 1);
    if (marker === 0xff) offset += 1;
    else if (marker === scan) return header;
    else if ((segments += 1) > maxSegments) return undefined;
    else if (marker === end || marker < 0xc0 || unsupportedFrameMarkers.has(marker)) return undefined;
    else {
      if (startOfFrameMarkers.has(marker)) header = readFrame(view, offset + 4);
      if (startOfFrameMarkers.has(marker) && header === undefined) return undefined;
      offset += 2 + view.getUint16(offset + 2);
    }
  }
  return undefined;
}

/** Reads precision, height, width and number of components after the segment's length. */
function readFrame(view: DataView, offset: number): JpegHeader | undefined {
  if (offset + 6 > view.byteLength) return undefined;
  const [height, width] = [view.getUint16(offset + 1), view.getUint16(offset + 3)];
  return view.getUint8(offset) === 8 && width > 0 && height > 0 && view.getUint8(offset + 5) > 0
    ? { width, height }
    : undefined;
}
