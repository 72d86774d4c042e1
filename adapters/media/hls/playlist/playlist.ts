import { parse, setOptions } from 'hls-parser';
import { z } from 'zod';
import type { Steps } from '../../../steps.ts';
import { PlaylistLimitError } from './playlist-budget.ts';
import { sanitizePlaylist, type SanitizedPlaylist } from './sanitize-playlist.ts';
import type { Variables } from './variables.ts';

/** Parsed playlist, reduced to what captures need. Every URL is absolute. */
export type Playlist = MultivariantPlaylist | MediaPlaylist;

/** Multivariant playlist: the list of variant streams. */
export type MultivariantPlaylist = {
  kind: 'multivariant';
  url: string;
  variants: Variant[];
  /** Variables that its media playlists may import. */
  variables: Variables;
};

export type Variant = {
  url: string;
  /** Bandwidth in bits per second; 0 if absent. */
  bandwidth: number;
  resolution: { width: number; height: number } | null;
  codecs: string | null;
  /** True for a rendition of another variant, an alternative to it. */
  isRendition?: true;
};

export type MediaPlaylist = {
  kind: 'media';
  /** URL after redirects, the base of relative URLs. */
  url: string;
  targetSeconds: number;
  /** The newest 64 segments at most, oldest first. */
  segments: Segment[];
  endList: boolean;
  playlistType: 'EVENT' | 'VOD' | null;
};

/** Byte range of a resource, in bytes. */
export type ByteRange = { offset: number; length: number };

export type Resource = { url: string; byteRange: ByteRange | null };

export type SegmentKey =
  | { method: 'AES-128'; url: string; iv: Uint8Array | null }
  /** DRM or another method that captures cannot decrypt. */
  | { method: 'unsupported' };

/** Media segment. `sequence` is its media sequence number. */
export type Segment = Resource & {
  /** Media sequence number, up to 2^64 - 1. */
  sequence: bigint;
  durationSeconds: number;
  /** Media initialization section of fMP4; `null` if absent. */
  initialization: Resource | null;
  key: SegmentKey | null;
  /** Program date-time, extrapolated from earlier segments; `null` if unknown. */
  startsAt: Date | null;
  /** True if the encoding or the timestamps change at this segment. */
  discontinuity: boolean;
  /** True if the server has no data for this segment (EXT-X-GAP). */
  gap: boolean;
};

/** Maximum parsed segments: one minute of clip in segments of 1 s. */
const newestSegments = 64;

/** Error for text that is not a readable playlist. */
export class PlaylistError extends Error {
  override readonly name = 'PlaylistError';
}

// By default the parser writes every violation of the standard to the console.
setOptions({ silent: true });

/**
 * Parses a playlist fetched from `url`, in steps. `imported` holds the variables of its multivariant playlist. Throws
 * `PlaylistError`.
 */
export function* parseInSteps(
  bytes: Uint8Array,
  url: string,
  imported: Variables = new Map<string, string>(),
): Steps<Playlist> {
  try {
    const read = yield* sanitizePlaylist(bytes, { url, imported, maxSegments: newestSegments });
    if (read === null) throw new PlaylistError('No #EXTM3U at the start');
    yield;
    const parsed = parse(read.text);
    return parsed.isMasterPlaylist
      ? multivariant(multivariantSchema.parse(parsed), url, read)
      : media(mediaSchema.parse(parsed), url, read.firstSequence);
  } catch (cause) {
    throw cause instanceof PlaylistError
      ? cause
      : new PlaylistError('The playlist cannot be read', { cause });
  }
}

// The types of hls-parser are wrong: absent values are undefined or null, and an absent offset is -1.
const byteRangeSchema = z.object({
  offset: z.number().transform((offset) => Math.max(0, offset)),
  length: z.number().positive(),
});

const multivariantSchema = z.object({
  variants: z.array(
    z.object({
      uri: z.string(),
      bandwidth: z.number().nonnegative().catch(0),
      resolution: z
        .object({ width: z.number().positive(), height: z.number().positive() })
        .nullish()
        .catch(null),
      codecs: z.string().nullish(),
    }),
  ),
});

const keySchema = z.object({
  method: z.string(),
  uri: z.string().nullish(),
  iv: z.instanceof(Uint8Array).nullish(),
  format: z.string().nullish(),
});

const segmentSchema = z.object({
  /** Empty for trailing tags without a segment. */
  uri: z.string(),
  /** Counts from zero: see `takeMediaSequence`. */
  mediaSequenceNumber: z.int(),
  duration: z.number().nonnegative().catch(0),
  byterange: byteRangeSchema.nullish(),
  map: z.object({ uri: z.string(), byterange: byteRangeSchema.nullish() }).nullish(),
  key: keySchema.nullish(),
  programDateTime: z.date().nullish().catch(null),
  discontinuity: z.boolean().nullish(),
  gap: z.boolean().nullish(),
});

const mediaSchema = z.object({
  targetDuration: z.number().nonnegative().catch(0),
  endlist: z.boolean(),
  playlistType: z.enum(['EVENT', 'VOD']).nullish().catch(null),
  segments: z.array(segmentSchema),
});

function multivariant(
  parsed: z.infer<typeof multivariantSchema>,
  url: string,
  { variables, renditions }: Pick<SanitizedPlaylist, 'variables' | 'renditions'>,
): MultivariantPlaylist {
  const variants = parsed.variants.map((variant) => ({
    url: absolute(variant.uri, url),
    bandwidth: variant.bandwidth,
    resolution: variant.resolution ?? null,
    codecs: variant.codecs ?? null,
    ...(renditions.has(variant.uri) && { isRendition: true as const }),
  }));
  return { kind: 'multivariant', url, variants, variables };
}

function media(parsed: z.infer<typeof mediaSchema>, url: string, firstSequence: bigint): MediaPlaylist {
  const segments: Segment[] = [];
  let nextStartsAt: Date | null = null;
  for (const read of parsed.segments.filter(({ uri }) => uri !== '')) {
    const segment = toSegment(read, url, firstSequence, nextStartsAt);
    segments.push(segment);
    nextStartsAt = segment.startsAt && new Date(segment.startsAt.getTime() + segment.durationSeconds * 1000);
  }
  return {
    kind: 'media',
    url,
    // Without EXT-X-TARGETDURATION a playlist is invalid but plays. The longest segment replaces it.
    targetSeconds:
      parsed.targetDuration || Math.max(0, ...segments.map(({ durationSeconds }) => durationSeconds)),
    segments,
    endList: parsed.endlist,
    playlistType: parsed.playlistType ?? null,
  };
}

function toSegment(
  read: z.infer<typeof segmentSchema>,
  url: string,
  firstSequence: bigint,
  follows: Date | null,
): Segment {
  const discontinuity = read.discontinuity ?? false;
  return {
    url: absolute(read.uri, url),
    byteRange: read.byterange ?? null,
    sequence: firstSequence + BigInt(read.mediaSequenceNumber),
    durationSeconds: read.duration,
    initialization: read.map
      ? { url: absolute(read.map.uri, url), byteRange: read.map.byterange ?? null }
      : null,
    key: toKey(read.key ?? null, url),
    startsAt: read.programDateTime ?? (discontinuity ? null : follows),
    discontinuity,
    gap: read.gap ?? false,
  };
}

function toKey(read: z.infer<typeof keySchema> | null, url: string): SegmentKey | null {
  if (read === null || read.method === 'NONE') return null;
  const plain = (read.format ?? 'identity') === 'identity';
  if (read.method !== 'AES-128' || !plain || !read.uri) return { method: 'unsupported' };
  return { method: 'AES-128', url: absolute(read.uri, url), iv: read.iv ? wholeBlock(read.iv) : null };
}

/** Pads the IV to 128 bits (RFC 8216, 4.3.2.4): some packagers omit leading zeros. */
function wholeBlock(iv: Uint8Array): Uint8Array {
  const block = new Uint8Array(16);
  const digits = iv.subarray(-16);
  block.set(digits, 16 - digits.length);
  return block;
}

/** Maximum length of a URL: each segment, key and rendition has one, and variables or a long base multiply it. */
const maxUrlLength = 32_768;

function absolute(reference: string, base: string): string {
  const { href } = new URL(reference, base);
  if (href.length > maxUrlLength) throw new PlaylistLimitError('long lines');
  return href;
}

/**
 * Liveness of a playlist. `ended`: ENDLIST. `recorded`: PLAYLIST-TYPE:VOD. An EVENT playlist without ENDLIST is
 * live.
 */
export type Liveness = 'live' | 'ended' | 'recorded';

export function classifyLiveness(playlist: Pick<MediaPlaylist, 'endList' | 'playlistType'>): Liveness {
  if (playlist.playlistType === 'VOD') return 'recorded';
  return playlist.endList ? 'ended' : 'live';
}
