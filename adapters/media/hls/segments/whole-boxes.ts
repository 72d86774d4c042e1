const headBytes = 8;

/**
 * Returns fragmented MP4 up to its last whole fragment. Bytes that were lost are no error of a decoder in every case;
 * but then the length of a box (ISO/IEC 14496-12, 4.2) leads beyond the end, or to what is no box. Returns other bytes
 * as they are.
 */
export function wholeBoxes(bytes: Uint8Array): Uint8Array {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!/^(?:ftyp|styp|moof|sidx|emsg|prft)$/.test(readType(view, 0))) return bytes;
  let whole = 0;
  for (let at = 0; at + headBytes <= view.length;) {
    const size = readSize(view, at);
    const end = at + size;
    const isLast = end + headBytes > view.length;
    if (size === 0) return bytes;
    if (end > view.length || (!isLast && !/^[\w ]{4}$/.test(readType(view, end)))) break;
    // Media belong to the box before.
    if (readType(view, at) !== 'moof') whole = isLast ? bytes.length : end;
    at = end;
  }
  return bytes.subarray(0, whole);
}

function readType(view: Buffer, at: number): string {
  return view.toString('latin1', at + 4, at + headBytes);
}

/** Returns 0 for a box up to the end. */
function readSize(view: Buffer, at: number): number {
  const size = view.readUInt32BE(at);
  if (size === 1 && at + 2 * headBytes <= view.length) return Number(view.readBigUInt64BE(at + headBytes));
  return size === 0 ? 0 : Math.max(headBytes, size);
}
