import { parseIsoTime } from '../../../../core/outside-time.ts';

/**
 * Reduces the lines of a media playlist to the newest `most` segments and the tags that these inherit from removed
 * ones. A day of DVR has 40,000 segments, for which a parser needs 100 MB.
 */
export function keepNewestSegments(lines: string[], max: number): string[] {
  let left = lines.reduce((count, line) => (isUri(line) ? count + 1 : count), 0) - max;
  if (left <= 0) return lines;
  const end = 1 + lines.findIndex((line) => isUri(line) && (left -= 1) === 0);
  const gone = lines.slice(0, end);
  const kept = lines.slice(end);
  return [
    ...readHeader(gone),
    mediaSequenceLine(sequenceAfter(gone)),
    ...gone.filter((line) => line.startsWith('#EXT-X-MAP:')).slice(-1),
    ...gone.filter((line) => line.startsWith('#EXT-X-KEY:')).slice(-1),
    ...clockAfter(gone, kept),
    ...kept,
  ];
}

/** Returns the newest tag of each kind that applies to the whole playlist. */
function readHeader(lines: string[]): string[] {
  const newest = new Map<string, string>();
  for (const line of lines) {
    const kind = headerTags.exec(line)?.[1];
    if (kind !== undefined) newest.set(kind, line);
  }
  return [...newest.values()];
}

const headerTags = /^#(EXTM3U|EXT-X-VERSION|EXT-X-TARGETDURATION|EXT-X-PLAYLIST-TYPE|EXT-X-ENDLIST)\b/;
const clockTag = '#EXT-X-PROGRAM-DATE-TIME:';
const durationTag = '#EXTINF:';
const discontinuityTag = '#EXT-X-DISCONTINUITY';
/** Largest time of a `Date`: durations of a playlist may add up to more. */
const maxClockMs = 8.64e15;

/** Returns the program date-time of the first kept segment, unless it has its own or a discontinuity. */
function clockAfter(gone: string[], kept: string[]): string[] {
  const first = kept.slice(0, kept.findIndex(isUri));
  if (first.some((line) => line.startsWith(clockTag) || line === discontinuityTag)) return [];
  const newest = gone.findLastIndex((line) => line.startsWith(clockTag));
  if (newest === -1) return [];
  const before = gone.slice(0, newest).findLast((line) => line.startsWith(durationTag));
  let clockMs = parseIsoTime(readText(gone[newest] ?? '')) ?? Number.NaN;
  let durationMs = before === undefined ? 0 : readNumber(before) * 1000;
  let isOwn = true;
  for (const line of gone.slice(newest + 1)) {
    if (line === discontinuityTag && !isOwn) clockMs = Number.NaN;
    isOwn &&= !isUri(line);
    if (line.startsWith(durationTag)) durationMs = readNumber(line) * 1000;
    if (isUri(line)) clockMs += durationMs;
  }
  return writeClock(clockMs);
}

/** Returns the line; a program date-time in the form that the parser reads, none if it is no time. */
export function readClock(line: string): string[] {
  return line.startsWith(clockTag) ? writeClock(parseIsoTime(readText(line)) ?? Number.NaN) : [line];
}

function writeClock(clockMs: number): string[] {
  return Math.abs(clockMs) < maxClockMs ? [`${clockTag}${new Date(clockMs).toISOString()}`] : [];
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

const sequenceTag = '#EXT-X-MEDIA-SEQUENCE:';
const skipTag = '#EXT-X-SKIP:';

/** The largest number that an initialization vector takes has 128 bits. */
const maxDigits = 39;

/**
 * Returns the lines without media sequence number, and that of the first segment. hls-parser reads it as a double,
 * which loses digits above 2^53.
 */
export function takeMediaSequence(lines: string[]): { lines: string[]; firstSequence: bigint } {
  const firstUri = lines.findIndex((line) => !line.startsWith('#'));
  return {
    lines: lines.filter((line) => !line.startsWith(sequenceTag) && !line.startsWith(skipTag)),
    firstSequence: sequenceAfter(firstUri === -1 ? lines : lines.slice(0, firstUri)),
  };
}

/** Returns the media sequence number of the segment that follows these lines. */
function sequenceAfter(lines: string[]): bigint {
  let segments = 0;
  let numbered = 0n;
  for (const line of lines) {
    if (!line.startsWith('#')) segments += 1;
    else if (line.startsWith(sequenceTag)) numbered += parseInteger(line.slice(sequenceTag.length));
    else if (line.startsWith(skipTag))
      numbered += parseInteger(/SKIPPED-SEGMENTS="?(\d+)/.exec(line)?.[1] ?? '');
  }
  return numbered + BigInt(segments);
}

/** Returns the tag that numbers the segment after it. */
function mediaSequenceLine(sequence: bigint): string {
  return `${sequenceTag}${sequence}`;
}

function parseInteger(text: string): bigint {
  const digits = /^\s*(-?\d+)/.exec(text)?.[1] ?? '';
  return digits.length > maxDigits ? 0n : BigInt(digits);
}
