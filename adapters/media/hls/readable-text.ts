/** The tags that captures need. The parser's work for others grows with the square of their number, and fails on some. */
const neededTags = new Set([
  'EXTM3U',
  'EXT-X-VERSION',
  'EXT-X-STREAM-INF',
  'EXT-X-TARGETDURATION',
  'EXT-X-MEDIA-SEQUENCE',
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

/** A playlist's text, reduced to what hls-parser reads safely and in linear time; null where the bytes are no playlist. */
export function readableText(bytes: Uint8Array): string | null {
  const lines = new TextDecoder()
    .decode(bytes)
    .split('\n')
    .map((line) => line.trim());
  const first = lines.find((line) => line !== '');
  if (first === undefined || !/^#EXTM3U\b/.test(first)) return null;
  const read: string[] = [];
  let variants = 0;
  for (const line of lines) {
    if (line === '' || (line.startsWith('#') && !isNeeded(line))) continue;
    if (line.startsWith('#EXT-X-STREAM-INF') && ++variants > mostVariants) break;
    read.push(line.startsWith('#EXTINF:') ? withoutTitle(line) : line);
  }
  return read.join('\n');
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
