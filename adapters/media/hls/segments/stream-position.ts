import { createHash } from 'node:crypto';
import type { StreamPosition, InputMode } from '../../../../core/records/capture.ts';
import type { MediaPlaylist, Segment } from '../playlist/playlist.ts';

/**
 * Maximum segment duration, in seconds. Some playlists give milliseconds; with that value a stream would never
 * count as stale.
 */
const maxSegmentSeconds = 60;

/**
 * Returns a position that changes with each segment, also if an encoder restarts its numbering. It holds only a
 * hash of the file name, because positions are stored and a path may be signed.
 */
export function streamPosition(newest: Segment, playlist: MediaPlaylist): StreamPosition {
  const name = createHash('sha256').update(identifySegment(newest, playlist)).digest('hex').slice(0, 12);
  return {
    segment: `${newest.sequence}:${name}`,
    segment_seconds: Math.min(playlist.targetSeconds, maxSegmentSeconds),
  };
}

/**
 * Adds a hash of the contents of the segment and of that of its key frame: some servers number the segments of each
 * viewer from 0, and the newest one may have no frame (go2rtc). How many segments before them were captured must not
 * count: it differs between processes.
 */
export function withContent(
  { segment, ...position }: StreamPosition,
  contents: readonly Uint8Array[],
): StreamPosition {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content);
  return { ...position, segment: `${segment}:${hash.digest('hex').slice(0, 8)}` };
}

/** Returns the part of a position that a playlist states. */
export function withoutContent(segment: string): string {
  return segment.split(':').slice(0, 2).join(':');
}

/**
 * Returns the file name and byte range of a segment. The rest of a URL may be a token that changes with each request.
 * It counts only as far as it distinguishes segments of the playlist with the same file name and range.
 */
function identifySegment(newest: Segment, playlist: MediaPlaylist): string {
  const name = fileAndRange(newest);
  const sameName = playlist.segments.filter((segment) => fileAndRange(segment) === name);
  const urls = [...new Set(sameName.map(({ url }) => url))];
  return urls.length > 1 ? [name, ...distinguishingParts(newest.url, urls)].join(' ') : name;
}

function fileAndRange({ url, byteRange }: Segment): string {
  const fileName = new URL(url).pathname.split('/').at(-1) ?? '';
  return byteRange === null ? fileName : `${fileName} ${byteRange.offset}+${byteRange.length}`;
}

/**
 * Returns the first part of the URL that alone distinguishes all URLs, because a signature is rarely the first part.
 * Without one, returns each part that differs.
 */
function distinguishingParts(url: string, urls: string[]): string[] {
  const others = urls.map(partsOfUrl);
  const parts = [...partsOfUrl(url)].map(([name, value]) => ({
    text: `${name}=${value}`,
    values: new Set(others.map((other) => other.get(name))).size,
  }));
  const sufficient = parts.find(({ values }) => values === urls.length);
  return (sufficient ? [sufficient] : parts.filter(({ values }) => values > 1)).map(({ text }) => text);
}

/** Directories by their distance from the file name, then query parameters by their name. */
function partsOfUrl(url: string): Map<string, string> {
  const { pathname, searchParams } = new URL(url);
  const directories = pathname.split('/').slice(0, -1).toReversed();
  const names = [...new Set(searchParams.keys())];
  return new Map([
    ...directories.map((directory, index): [string, string] => [`/${index}`, directory]),
    ...names.map((name): [string, string] => [`?${name}`, searchParams.getAll(name).join(' ')]),
  ]);
}

/** Maximum plausible age, in milliseconds. Encoders with a wrong year are common; a stream may be hours behind. */
const plausibleMs = 24 * 60 * 60_000;

/**
 * Returns the time of the last key frame (`frames`) or segment end (clips); `now` if in the future or a day old. If
 * `keyFrameAt` is null, a frame is dated by the start of its segment.
 */
export function captureTime(
  newest: Segment,
  mode: InputMode,
  now: Date,
  keyFrameAt: Date | null = null,
): Date {
  if (newest.startsAt === null) return now;
  const end = new Date(newest.startsAt.getTime() + newest.durationSeconds * 1000);
  const taken = mode === 'frames' ? (keyFrameAt ?? newest.startsAt) : end;
  const ageMs = now.getTime() - taken.getTime();
  return ageMs >= 0 && ageMs <= plausibleMs ? taken : now;
}
