import { withRangeOffsets } from './byte-range-lines.ts';
import { takeMediaSequence } from './media-sequence.ts';
import { newestLines } from './newest-lines.ts';
import { keepReadableKeys } from './readable-keys.ts';
import { withVariables, type Variables } from './variables.ts';

/** The tags that captures need. The parser's work for others grows with the square of their number, and fails on some. */
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

/** Real playlists have a dozen; the parser compares each variant with every line. */
const mostVariants = 200;

/** A day in segments of 2 s, each with four tags, has 216,000; a list of them takes a hundred bytes a line. */
const mostLines = 250_000;

/** Tags in front of one URI, or at the end. Real ones have a dozen, and the parser's lists of some grow without one. */
const mostTagsOfOne = 1000;

/** It has more lines than are read. */
export class PlaylistLimitError extends Error {
  override readonly name = 'PlaylistLimitError';
}

export type PlaylistText = {
  text: string;
  /** Media sequence number of the first segment. */
  firstSequence: bigint;
  variables: Variables;
};

/**
 * A playlist's text, reduced to what hls-parser reads safely and in linear time, of a media playlist its newest `mostSegments`; null where
 * the bytes are no playlist. Throws `VariableError` and `PlaylistLimitError`.
 */
export function readableText(
  bytes: Uint8Array,
  source: { url: string; imported: Variables; mostSegments: number },
): PlaylistText | null {
  const read: string[] = [];
  let begun = false;
  let variants = 0;
  let tags = 0;
  for (const line of linesOf(new TextDecoder().decode(bytes))) {
    if (!begun && !/^#EXTM3U\b/.test(line)) return null;
    begun = true;
    if (line.startsWith('#') && !isNeeded(line)) continue;
    if (line.startsWith('#EXT-X-STREAM-INF') && ++variants > mostVariants) break;
    tags = line.startsWith('#') ? tags + 1 : 0;
    if (tags > mostTagsOfOne || read.length >= mostLines)
      throw new PlaylistLimitError('The playlist has too many lines');
    read.push(line.startsWith('#EXTINF:') ? withoutTitle(line) : line);
  }
  if (!begun) return null;
  const { lines, variables } = withVariables(read, source.url, source.imported);
  const defined = lines.filter((line) => !line.startsWith('#EXT-X-DEFINE'));
  if (variants > 0) return { text: defined.join('\n'), firstSequence: 0n, variables };
  const newest = newestLines(keepReadableKeys(withRangeOffsets(defined)), source.mostSegments);
  const { lines: kept, firstSequence } = takeMediaSequence(newest);
  return { text: kept.join('\n'), firstSequence, variables };
}

/** One after the other: a list of all lines of a large body takes many times its memory. */
function* linesOf(text: string): Generator<string> {
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

/** hls-parser throws at a title that is not ASCII. */
function withoutTitle(line: string): string {
  const comma = line.indexOf(',');
  return comma === -1 ? line : line.slice(0, comma + 1);
}
