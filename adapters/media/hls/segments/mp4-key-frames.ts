import { createEntryPointReader, h264Units, h265Units, type UnitRules } from '../../h264/entry-point.ts';

/**
 * Maximum MP4 samples, above every real segment. A run may declare four billion samples without bytes for them, and
 * a fragment needs only eight bytes.
 */
const maxSamples = 100_000;
const isNoKeyFrame = 0x10000;

/**
 * Returns the seconds from the first frame of a fragmented MP4 segment to each key frame, in decoding order. Returns
 * null if the boxes do not contain them (ISO/IEC 14496-12).
 */
export function keyFrameOffsetsMp4(segment: Uint8Array, initialization: Uint8Array | null): number[] | null {
  try {
    const track = videoTrack(asBuffer(initialization ?? segment));
    return track === null ? null : toOffsets(readKeyFrames(asBuffer(segment), track));
  } catch {
    // Truncated boxes: the caller then uses the start time of the segment.
    return null;
  }
}

/** Returns true if fragmented MP4 has intra refresh, whose begin encoders mark like a key frame. */
export function beginsRefreshMp4(segments: readonly Uint8Array[], initialization?: Uint8Array): boolean {
  const left = { units: maxUnitsOfSegments };
  return segments.some((segment) => {
    try {
      const bytes = asBuffer(segment);
      const track = videoTrack(asBuffer(initialization ?? segment));
      const index = track?.rules ? readKeyFrames(bytes, track) : null;
      return index?.keyFrames.some(({ at }) => isRefresh(bytes, at, track?.rules, left)) ?? false;
    } catch {
      return false;
    }
  });
}

/** Returns true if MP4 has a movie box whose tracks are sound only. */
export function hasOnlySoundMp4(bytes: Uint8Array): boolean {
  try {
    const kinds: string[] = [];
    for (const track of listTracks(child(asBuffer(bytes), 'moov')))
      kinds.push(child(child(track, 'mdia'), 'hdlr').toString('latin1', 8, 12));
    return kinds.length > 0 && kinds.every((kind) => kind === 'soun');
  } catch {
    return false;
  }
}

const unitLengthBytes = 4;
const maxUnits = 32;
/** Maximum units that are read of all segments: samples may overlap, so that a few bytes are read for each of them. */
const maxUnitsOfSegments = 4_000;

/** Reads the units of a sample up to its first slice. */
function isRefresh(
  segment: Buffer,
  sampleAt: number,
  rules: UnitRules | null | undefined,
  left: { units: number },
): boolean {
  if (!rules) return false;
  const reader = createEntryPointReader(rules);
  for (let offset = sampleAt, units = 0; !reader.hasSlice() && units < maxUnits; units += 1) {
    if ((left.units -= 1) < 0) return false;
    const end = offset + unitLengthBytes + segment.readUInt32BE(offset);
    reader.note(segment.subarray(offset + unitLengthBytes, end));
    offset = end;
  }
  return (reader.entryPoint()?.recoveryFrames ?? 0) > 0;
}

type Track = {
  id: number;
  timescale: number;
  sampleSeconds: number;
  sampleFlags: number;
  sampleBytes: number;
  /** Null for codecs other than H.264 and H.265. */
  rules: UnitRules | null;
};

function videoTrack(bytes: Buffer): Track | null {
  const movie = child(bytes, 'moov');
  for (const track of listTracks(movie)) {
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
      sampleBytes: defaults?.readUInt32BE(16) ?? 0,
      rules: readRules(child(child(child(media, 'minf'), 'stbl'), 'stsd')),
    };
  }
  return null;
}

/** Above the number of renditions and languages of every real stream. */
const maxTracks = 1_000;

function* listTracks(movie: Buffer): Generator<Buffer> {
  let left = maxTracks;
  for (const track of children(movie, 'trak')) {
    if ((left -= 1) < 0) return;
    yield track;
  }
}

function readRules(descriptions: Buffer): UnitRules | null {
  const format = descriptions.toString('latin1', 12, 16);
  if (/^avc[13]$/.test(format)) return h264Units;
  return /^h(?:vc|ev)1$/.test(format) ? h265Units : null;
}

function findDefaults(extension: Buffer, id: number): Buffer | null {
  for (const box of children(extension, 'trex')) if (box.readUInt32BE(4) === id) return box;
  return null;
}

/** Key frames in decoding order, with their presentation times and places in the segment. */
type KeyFrames = { firstSeconds: number; keyFrames: { seconds: number; at: number }[] };

function toOffsets(index: KeyFrames | null): number[] | null {
  return index && index.keyFrames.map(({ seconds }) => seconds - index.firstSeconds);
}

function readKeyFrames(segment: Buffer, track: Track): KeyFrames | null {
  let first = Infinity;
  const keyFrames: KeyFrames['keyFrames'] = [];
  let left = maxSamples;
  for (const { fragment, start } of readFragments(segment)) {
    if ((left -= 1) < 0) return null;
    const header = readHeader(child(fragment, 'tfhd'), track);
    if (header === null) continue;
    let seconds = readBaseTime(child(fragment, 'tfdt')) / track.timescale;
    for (const run of children(fragment, 'trun')) {
      if ((left -= 1) < 0) return null;
      // Data is addressed from the start of the fragment.
      let offset = start + (run.readUIntBE(1, 3) & 0x001 ? run.readInt32BE(8) : 0);
      for (const sample of readSamples(run, header, track.timescale)) {
        if ((left -= 1) < 0) return null;
        first = Math.min(first, seconds + sample.delaySeconds);
        if ((sample.flags & isNoKeyFrame) === 0)
          keyFrames.push({ seconds: seconds + sample.delaySeconds, at: offset });
        seconds += sample.seconds;
        offset += sample.bytes;
      }
    }
  }
  return first === Infinity ? null : { firstSeconds: first, keyFrames };
}

function* readFragments(segment: Buffer): Generator<{ fragment: Buffer; start: number }> {
  let left = maxSamples;
  for (const box of children(segment, 'moof')) {
    if ((left -= 1) < 0) return;
    const start = box.byteOffset - segment.byteOffset - 8;
    for (const fragment of children(box, 'traf')) yield { fragment, start };
  }
}

type SampleDefaults = Pick<Track, 'sampleSeconds' | 'sampleFlags' | 'sampleBytes'>;

/** Returns null for another track. */
function readHeader(box: Buffer, track: Track): SampleDefaults | null {
  if (box.readUInt32BE(4) !== track.id) return null;
  const flags = box.readUIntBE(1, 3);
  let offset = 8 + (flags & 0x01 ? 8 : 0) + (flags & 0x02 ? 4 : 0);
  const next = (present: number): number | null =>
    flags & present ? box.readUInt32BE((offset += 4) - 4) : null;
  const duration = next(0x08);
  const bytes = next(0x10);
  return {
    sampleBytes: bytes ?? track.sampleBytes,
    sampleSeconds: duration === null ? track.sampleSeconds : duration / track.timescale,
    sampleFlags: next(0x20) ?? track.sampleFlags,
  };
}

function readBaseTime(box: Buffer): number {
  return box.readUInt8(0) === 1 ? Number(box.readBigUInt64BE(4)) : box.readUInt32BE(4);
}

type Sample = { seconds: number; flags: number; delaySeconds: number; bytes: number };

function* readSamples(box: Buffer, defaults: SampleDefaults, timescale: number): Generator<Sample> {
  const flags = box.readUIntBE(1, 3);
  const count = box.readUInt32BE(4);
  let offset = 8 + (flags & 0x001 ? 4 : 0);
  const next = (present: number): number | null =>
    flags & present ? box.readUInt32BE((offset += 4) - 4) : null;
  let firstFlags = next(0x004);
  for (let index = 0; index < count; index += 1) {
    const duration = next(0x100);
    const bytes = next(0x200);
    const sampleFlags = next(0x400);
    const delay = next(0x800) ?? 0;
    yield {
      seconds: duration === null ? defaults.sampleSeconds : duration / timescale,
      flags: firstFlags ?? sampleFlags ?? defaults.sampleFlags,
      bytes: bytes ?? defaults.sampleBytes,
      // Signed in version 1; in version 0, real values never use the sign bit.
      delaySeconds: (delay | 0) / timescale,
    };
    firstFlags = null;
  }
}

/** Returns an empty buffer if the box is missing. Reading from it throws. */
function child(box: Buffer, type: string): Buffer {
  for (const first of children(box, type)) return first;
  return Buffer.alloc(0);
}

/** Yields the boxes one by one: 16 MiB may hold two million empty boxes, whose list takes half a gigabyte. */
function* children(box: Buffer, type: string): Generator<Buffer> {
  const wanted = Buffer.from(type, 'latin1').readUInt32BE();
  for (let offset = 0; offset + 8 <= box.length;) {
    const size = box.readUInt32BE(offset);
    const isLong = size === 1 && offset + 16 <= box.length;
    const bytes = isLong ? Number(box.readBigUInt64BE(offset + 8)) : size === 0 ? box.length - offset : size;
    if (bytes < 8) break;
    if (box.readUInt32BE(offset + 4) === wanted)
      yield box.subarray(offset + (isLong ? 16 : 8), offset + bytes);
    offset += bytes;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
