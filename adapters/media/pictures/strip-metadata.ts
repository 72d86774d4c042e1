const markers = {
  scan: 0xda,
  jfif: 0xe0,
  exif: 0xe1,
  adobe: 0xee,
  lastApplication: 0xef,
  comment: 0xfe,
} as const;

/**
 * Returns a JPEG without the metadata in front of its first scan: location and serial number do not belong into a decoder, and errors in them say nothing
 * about the picture. Keeps what determines its shape, colors and orientation.
 */
export function withoutMetadata(jpeg: Uint8Array): Uint8Array {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  const parts: Buffer[] = [];
  let keptFrom = 0;
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === markers.scan) return Buffer.concat([...parts, bytes.subarray(keptFrom)]);
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const isMetadata =
      marker === markers.comment || (marker > markers.jfif && marker <= markers.lastApplication);
    if (isMetadata && marker !== markers.adobe) {
      parts.push(bytes.subarray(keptFrom, at));
      if (marker === markers.exif) parts.push(onlyOrientation(bytes.subarray(at + 4, end)));
      keptFrom = end;
    }
    at = end;
  }
  return jpeg;
}

const exifName = 'Exif\0\0';
/** Big-endian TIFF with one entry, whose value is not written yet. */
const orientationEntry = Buffer.from('4d4d002a000000080001011200030000000100000000', 'hex');
const [orientationTag, entryBytes] = [0x0112, 12];

/** Returns the segment of EXIF with the orientation alone; empty for an upright picture. */
function onlyOrientation(exif: Buffer): Buffer {
  const orientation = readOrientation(exif);
  if (orientation < 2 || orientation > 8) return Buffer.alloc(0);
  const entry = Buffer.concat([Buffer.from(exifName), orientationEntry, Buffer.alloc(4)]);
  entry.writeUInt16BE(orientation, exifName.length + 18);
  return Buffer.concat([Buffer.from([0xff, markers.exif, 0, entry.length + 2]), entry]);
}

/** Returns 0 without an orientation. */
function readOrientation(exif: Buffer): number {
  const tiff = exif.subarray(exifName.length);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  if (exif.toString('latin1', 0, exifName.length) !== exifName || tiff.length < 8) return 0;
  const readShort = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const entries = 2 + (isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4));
  const end =
    entries > tiff.length ? 0 : Math.min(tiff.length, entries + entryBytes * readShort(entries - 2));
  // Behind them are other values, and the orientation of the thumbnail.
  for (let at = entries; at + entryBytes <= end; at += entryBytes)
    if (readShort(at) === orientationTag) return readShort(at + 8);
  return 0;
}
