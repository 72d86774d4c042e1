/**
 * Maximum MP4 samples, above every real segment. A run may declare four billion samples without bytes for them, and
 * a fragment needs only eight bytes.
 */
const maxSamples = 100_000;
const isNoKeyFrame = 0x10000;

/**
 * Returns the seconds from the first frame of a fragmented MP4 segment to each key frame, in decoding order. Returns null if the boxes do not
 * contain them (ISO/IEC 14496-12).
 */
export function keyFrameOffsetsMp4(segment: Uint8Array, initialization: Uint8Array | null): number[] | null {
  try {
    const track = videoTrack(asBuffer(initialization ?? segment));
    return track === null ? null : keyFrames(asBuffer(segment), track);
  } catch {
    // Truncated boxes: the caller then uses the start time of the segment.
    return null;
  }
}

type Track = { id: number; timescale: number; sampleSeconds: number; sampleFlags: number };

function videoTrack(bytes: Buffer): Track | null {
  const movie = child(bytes, 'moov');
  for (const track of children(movie, 'trak')) {
    const media = child(track, 'mdia');
    if (child(media, 'hdlr').toString('latin1', 8, 12) !== 'vide') continue;
    const [header, times] = [child(track, 'tkhd'), child(media, 'mdhd')];
    const id = header.readUInt32BE(header.readUInt8(0) === 1 ? 20 : 12);
    const timescale = times.readUInt32BE(times.readUInt8(0) === 1 ? 20 : 12);
    const defaults = findDefaults(child(movie, 'mvex'), id);
    return {
      id,
      timescale,
      sampleSeconds: (defaults?.readUInt32BE(12) ?? 0) / timescale,
      sampleFlags: defaults?.readUInt32BE(20) ?? 0,
    };
  }
  return null;
}

function findDefaults(extension: Buffer, id: number): Buffer | null {
  for (const box of children(extension, 'trex')) if (box.readUInt32BE(4) === id) return box;
  return null;
}

function keyFrames(segment: Buffer, track: Track): number[] | null {
  let first = Infinity;
  const found: number[] = [];
  let left = maxSamples;
  for (const fragment of readFragments(segment)) {
    if ((left -= 1) < 0) return null;
    const header = readHeader(child(fragment, 'tfhd'), track);
    if (header === null) continue;
    let seconds = readBaseTime(child(fragment, 'tfdt')) / track.timescale;
    for (const run of children(fragment, 'trun')) {
      if ((left -= 1) < 0) return null;
      for (const sample of readSamples(run, header, track.timescale)) {
        if ((left -= 1) < 0) return null;
        first = Math.min(first, seconds + sample.delaySeconds);
        if ((sample.flags & isNoKeyFrame) === 0) found.push(seconds + sample.delaySeconds);
        seconds += sample.seconds;
      }
    }
  }
  return first === Infinity ? null : found.map((seconds) => seconds - first);
}

function* readFragments(segment: Buffer): Generator<Buffer> {
  let left = maxSamples;
  for (const box of children(segment, 'moof')) {
    if ((left -= 1) < 0) return;
    yield* children(box, 'traf');
  }
}

type SampleDefaults = Pick<Track, 'sampleSeconds' | 'sampleFlags'>;

/** Returns null for another track. */
function readHeader(box: Buffer, track: Track): SampleDefaults | null {
  if (box.readUInt32BE(4) !== track.id) return null;
  const flags = box.readUIntBE(1, 3);
  let at = 8 + (flags & 0x01 ? 8 : 0) + (flags & 0x02 ? 4 : 0);
  const next = (present: number): number | null => (flags & present ? box.readUInt32BE((at += 4) - 4) : null);
  const duration = next(0x08);
  next(0x10);
  return {
    sampleSeconds: duration === null ? track.sampleSeconds : duration / track.timescale,
    sampleFlags: next(0x20) ?? track.sampleFlags,
  };
}

function readBaseTime(box: Buffer): number {
  return box.readUInt8(0) === 1 ? Number(box.readBigUInt64BE(4)) : box.readUInt32BE(4);
}

type Sample = { seconds: number; flags: number; delaySeconds: number };

function* readSamples(box: Buffer, defaults: SampleDefaults, timescale: number): Generator<Sample> {
  const flags = box.readUIntBE(1, 3);
  const count = box.readUInt32BE(4);
  let at = 8 + (flags & 0x001 ? 4 : 0);
  const next = (present: number): number | null => (flags & present ? box.readUInt32BE((at += 4) - 4) : null);
  let firstFlags = next(0x004);
  for (let index = 0; index < count; index += 1) {
    const duration = next(0x100);
    next(0x200);
    const own = next(0x400);
    const delay = next(0x800) ?? 0;
    yield {
      seconds: duration === null ? defaults.sampleSeconds : duration / timescale,
      flags: firstFlags ?? own ?? defaults.sampleFlags,
      // Signed in version 1; in version 0, real values never use the sign bit.
      delaySeconds: (delay | 0) / timescale,
    };
    firstFlags = null;
  }
}

/** Returns an empty buffer if the box is missing. Reading from it throws. */
function child(box: Buffer, type: string): Buffer {
  for (const found of children(box, type)) return found;
  return Buffer.alloc(0);
}

/** Yields the boxes one by one: 16 MiB may hold two million empty boxes, whose list takes half a gigabyte. */
function* children(box: Buffer, type: string): Generator<Buffer> {
  const wanted = Buffer.from(type, 'latin1').readUInt32BE();
  for (let at = 0; at + 8 <= box.length;) {
    const size = box.readUInt32BE(at);
    const isLong = size === 1 && at + 16 <= box.length;
    const bytes = isLong ? Number(box.readBigUInt64BE(at + 8)) : size === 0 ? box.length - at : size;
    if (bytes < 8) break;
    if (box.readUInt32BE(at + 4) === wanted) yield box.subarray(at + (isLong ? 16 : 8), at + bytes);
    at += bytes;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
