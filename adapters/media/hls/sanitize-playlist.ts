import { withRangeOffsets } from './byte-range-lines.ts';
import { takeMediaSequence } from './media-sequence.ts';
import { keepNewestSegments } from './newest-segments.ts';
import { keepReadableKeys } from './readable-keys.ts';
import { substituteVariables, type Variables } from './variables.ts';

/** Tags that captures need. hls-parser takes quadratic time for some others and fails on some. */
const neededTags = new Set([
  'EXTM3U',
  'EXT-X-VERSION',
  'EXT-X-DEFINE',
  'EXT-X-STREAM-INF',
  'EXT-X-TARGETDURATION',
  'EXT-X-MEDIA-SEQUENCE',
  'EXT-X-SKIP',
  'EXT-X-ENDLIST',
  'EXT-X-PLAYLIST-TYPE',
  'EXTINF',
  'EXT-X-BYTERANGE',
  'EXT-X-DISCONTINUITY',
  'EXT-X-GAP',
  'EXT-X-KEY',
  'EXT-X-MAP',
  'EXT-X-PROGRAM-DATE-TIME',
]);

/** Maximum variant streams. Real playlists have about 12; the parser compares each with every line. */
const maxVariants = 200;

/** Maximum lines. A day in segments of 2 s with four tags each has 216,000. A list takes 100 bytes per line. */
const maxLines = 250_000;

/**
 * Maximum tags before one URI or at the end. Real playlists have about 12; some lists of the parser grow without
 * limit.
 */
const maxTagsPerUri = 1000;

/** Error for a playlist with more than the maximum number of lines or tags. */
export class PlaylistLimitError extends Error {
  override readonly name = 'PlaylistLimitError';
}

export type SanitizedPlaylist = {
  text: string;
  /** Media sequence number of the first segment. */
  firstSequence: bigint;
  variables: Variables;
};

/**
 * Reduces a playlist to what hls-parser reads safely and in linear time: known tags, and the newest `maxSegments`
 * of a media playlist. Returns null if the bytes are not a playlist. Throws `VariableError` and
 * `PlaylistLimitError`.
 */
export function sanitizePlaylist(
  bytes: Uint8Array,
  source: { url: string; imported: Variables; maxSegments: number },
): SanitizedPlaylist | null {
  const read: string[] = [];
  let begun = false;
  let variants = 0;
  let tags = 0;
  for (const line of splitLines(new TextDecoder().decode(bytes))) {
    if (!begun && !/^#EXTM3U\b/.test(line)) return null;
    begun = true;
    if (line.startsWith('#') && !isNeeded(line)) continue;
    if (line.startsWith('#EXT-X-STREAM-INF') && ++variants > maxVariants) break;
    tags = line.startsWith('#') ? tags + 1 : 0;
    if (tags > maxTagsPerUri || read.length >= maxLines)
      throw new PlaylistLimitError('The playlist has too many lines');
    read.push(line.startsWith('#EXTINF:') ? withoutTitle(line) : line);
  }
  if (!begun) return null;
  const { lines, variables } = substituteVariables(read, source.url, source.imported);
  const defined = lines.filter((line) => !line.startsWith('#EXT-X-DEFINE'));
  if (variants > 0) return { text: defined.join('\n'), firstSequence: 0n, variables };
  const newest = keepNewestSegments(keepReadableKeys(withRangeOffsets(defined)), source.maxSegments);
  const { lines: kept, firstSequence } = takeMediaSequence(newest);
  return { text: kept.join('\n'), firstSequence, variables };
}

/** Yields the lines one by one: a list of all lines of a large body takes a multiple of its memory. */
function* splitLines(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? undefined : end).trim();
    start = end === -1 ? text.length : end + 1;
    if (line !== '') yield line;
  }
}

function isNeeded(line: string): boolean {
  const colon = line.indexOf(':');
  return neededTags.has(line.slice(1, colon === -1 ? undefined : colon).trim());
}

/** Removes the title: hls-parser throws if it is not ASCII. */
function withoutTitle(line: string): string {
  const comma = line.indexOf(',');
  return comma === -1 ? line : line.slice(0, comma + 1);
}
