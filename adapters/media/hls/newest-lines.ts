/**
 * Reduces the lines of a media playlist to the newest `most` segments and the tags that these inherit from removed
 * ones. A day of DVR has 40,000 segments, for which a parser needs 100 MB.
 */
export function newestLines(lines: string[], most: number): string[] {
  let left = lines.reduce((count, line) => (isUri(line) ? count + 1 : count), 0) - most;
  if (left <= 0) return lines;
  const end = 1 + lines.findIndex((line) => isUri(line) && (left -= 1) === 0);
  const gone = lines.slice(0, end);
  const kept = lines.slice(end);
  return [
    ...gone.filter((line) => headerTags.test(line)),
    `${sequenceTag}${sequenceAfter(gone)}`,
    ...gone.filter((line) => line.startsWith('#EXT-X-MAP:')).slice(-1),
    ...keysAfter(gone),
    ...clockAfter(gone, kept),
    ...kept,
  ];
}

const headerTags = /^#(EXTM3U|EXT-X-(VERSION|TARGETDURATION|PLAYLIST-TYPE|ENDLIST|DEFINE))\b/;
const sequenceTag = '#EXT-X-MEDIA-SEQUENCE:';
const clockTag = '#EXT-X-PROGRAM-DATE-TIME:';
const discontinuityTag = '#EXT-X-DISCONTINUITY';

function sequenceAfter(gone: string[]): number {
  return gone.reduce((sequence, line) => {
    if (isUri(line)) return sequence + 1;
    if (line.startsWith(sequenceTag)) return sequence + readNumber(line);
    return sequence + Number(/^#EXT-X-SKIP:.*SKIPPED-SEGMENTS=(\d+)/.exec(line)?.[1] ?? 0);
  }, 0);
}

/** Returns the keys in force. Consecutive keys belong to the same segments, in different formats. */
function keysAfter(gone: string[]): string[] {
  const last = gone.findLastIndex(isKey);
  const before = gone.slice(0, Math.max(0, last)).findLastIndex(isUri);
  return gone.slice(before + 1, last + 1).filter(isKey);
}

/** Returns the program date-time of the first kept segment, unless it has its own or a discontinuity. */
function clockAfter(gone: string[], kept: string[]): string[] {
  const first = kept.slice(0, kept.findIndex(isUri));
  if (first.some((line) => line.startsWith(clockTag) || line === discontinuityTag)) return [];
  let clockMs = Number.NaN;
  let durationMs = 0;
  let isOwn = false;
  for (const line of gone) {
    if (line.startsWith(clockTag)) clockMs = Date.parse(readText(line));
    if (line === discontinuityTag && !isOwn) clockMs = Number.NaN;
    isOwn = line.startsWith(clockTag) || (isOwn && !isUri(line));
    if (line.startsWith('#EXTINF:')) durationMs = readNumber(line) * 1000;
    if (isUri(line)) clockMs += durationMs;
  }
  return Number.isNaN(clockMs) ? [] : [`${clockTag}${new Date(clockMs).toISOString()}`];
}

function isKey(line: string): boolean {
  return line.startsWith('#EXT-X-KEY:');
}

function isUri(line: string): boolean {
  return !line.startsWith('#');
}

function readText(line: string): string {
  return line.slice(line.indexOf(':') + 1).trim();
}

function readNumber(line: string): number {
  return Number.parseFloat(readText(line)) || 0;
}
