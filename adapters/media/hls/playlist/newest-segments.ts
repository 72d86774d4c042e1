import { parseIsoTime } from '../../../../core/outside-time.ts';
import { mediaSequenceLine, sequenceAfter } from './media-sequence.ts';

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
    ...gone.filter((line) => headerTags.test(line)),
    mediaSequenceLine(sequenceAfter(gone)),
    ...gone.filter((line) => line.startsWith('#EXT-X-MAP:')).slice(-1),
    ...gone.filter((line) => line.startsWith('#EXT-X-KEY:')).slice(-1),
    ...clockAfter(gone, kept),
    ...kept,
  ];
}

const headerTags = /^#(EXTM3U|EXT-X-(VERSION|TARGETDURATION|PLAYLIST-TYPE|ENDLIST|DEFINE))\b/;
const clockTag = '#EXT-X-PROGRAM-DATE-TIME:';
const discontinuityTag = '#EXT-X-DISCONTINUITY';
/** Largest time of a `Date`: durations of a playlist may add up to more. */
const maxClockMs = 8.64e15;

/** Returns the program date-time of the first kept segment, unless it has its own or a discontinuity. */
function clockAfter(gone: string[], kept: string[]): string[] {
  const first = kept.slice(0, kept.findIndex(isUri));
  if (first.some((line) => line.startsWith(clockTag) || line === discontinuityTag)) return [];
  let clockMs = Number.NaN;
  let durationMs = 0;
  let isOwn = false;
  for (const line of gone) {
    if (line.startsWith(clockTag)) clockMs = parseIsoTime(readText(line)) ?? Number.NaN;
    if (line === discontinuityTag && !isOwn) clockMs = Number.NaN;
    isOwn = line.startsWith(clockTag) || (isOwn && !isUri(line));
    if (line.startsWith('#EXTINF:')) durationMs = readNumber(line) * 1000;
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
