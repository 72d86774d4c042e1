import type { Steps } from '../../../steps.ts';
import { takeMediaSequence, keepNewestSegments, readClock } from './newest-segments.ts';
import { PlaylistLimitError } from './playlist-budget.ts';
import { createSubstitution, type Variables } from './variables.ts';

const variantTag = '#EXT-X-STREAM-INF';
const mediaTag = '#EXT-X-MEDIA:';
const keyTag = '#EXT-X-KEY:';

/** A quoted string may hold names with values (RFC 8216, 4.2). */
const attribute = /(?<![A-Z0-9-])([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))|"[^"]*"/g;

/** Returns the attributes of a tag by name, without quotes. */
function readAttributes(line: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, quoted, plain = ''] of line.matchAll(attribute))
    if (name !== undefined) attributes.set(name, quoted ?? plain.trim());
  return attributes;
}

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

/** Lines that are read in one step, and those that are reduced at a time: a list of all takes 100 bytes per line. */
const [linesOfStep, defaultLinesOfPart] = [20_000, 4_000];

/** Maximum lines. A day in segments of 2 s with four tags each has 216,000. */
const maxLines = 250_000;

/** Maximum lines with those that are left out: comments, tags of advertisements, empty ones. */
const maxAllLines = 2 * maxLines;

/** Maximum definitions of variables. Real playlists have a few. */
const maxDefinitions = 1000;

/** Maximum keys. A day with three licenses each ten minutes has 432. */
const maxKeys = 20_000;

/** Maximum length of a line that is read. Signed URLs have a few thousand characters. */
const maxLineLength = 32_768;

/** Maximum length of the reduced text: the newest segments, or all variants, with long signed URLs. */
const maxLength = 2 * 1024 * 1024;

/**
 * Maximum tags before one URI or at the end. Real playlists have about 12; some lists of the parser grow without
 * limit.
 */
const maxTagsPerUri = 100;

export type SanitizedPlaylist = {
  text: string;
  /** Media sequence number of the first segment. */
  firstSequence: bigint;
  variables: Variables;
  /** URIs of the variant streams that are renditions of others. */
  renditions: ReadonlySet<string>;
};

type Source = { url: string; imported: Variables; maxSegments: number };

/**
 * Reduces a playlist to what hls-parser reads safely and in linear time: known tags, and the newest `maxSegments`
 * of a media playlist, in steps. Returns null if the bytes are not a playlist. Throws `VariableError` and
 * `PlaylistLimitError`.
 */
export function* sanitizePlaylist(
  bytes: Uint8Array,
  source: Source & { linesOfPart?: number },
): Steps<SanitizedPlaylist | null> {
  const { linesOfPart = defaultLinesOfPart } = source;
  const reducer = createReducer(source);
  let read: string[] = [];
  let begun = false;
  /** True between a tag that names a URI and that; players leave out further ones, and the parser throws. */
  let isNamed: boolean | undefined;
  let variants = 0;
  let media = 0;
  let tags = 0;
  let keys = 0;
  let definitions = 0;
  let lines = 0;
  let needed = 0;
  for (const line of splitLines(bytes)) {
    if ((lines += 1) % linesOfStep === 0) yield;
    if (!begun && !/^#EXTM3U\b/.test(line)) return null;
    begun = true;
    const isTag = line.startsWith('#');
    // To read the attributes of many or long ones would take seconds.
    const isMedia = line.startsWith(mediaTag) && ++media <= maxVariants && line.length <= maxLineLength;
    const isRendition = isMedia && isVideoRendition(line);
    if (isTag ? !isNeeded(line) && !isRendition : isNamed === false) continue;
    if (/^#(EXTINF|EXT-X-STREAM-INF)\b/.test(line)) isNamed = true;
    else if (!isTag && isNamed) isNamed = false;
    if (line.length > maxLineLength) throw new PlaylistLimitError('long lines');
    if (line.startsWith(variantTag) && ++variants > maxVariants) break;
    // The parser sees no renditions.
    if (!isRendition) tags = isTag ? tags + 1 : 0;
    if (line.startsWith(keyTag)) keys += 1;
    if (line.startsWith(defineTag)) definitions += 1;
    if (tags > maxTagsPerUri || keys > maxKeys || definitions > maxDefinitions || needed >= maxLines)
      throw new PlaylistLimitError('many lines');
    needed += 1;
    read.push(line.startsWith('#EXTINF:') ? withoutTitle(line) : line);
    if (isTag || read.length < linesOfPart) continue;
    yield* reducer.add(read, variants > 0);
    read = [];
  }
  if (!begun) return null;
  yield* reducer.add(read, variants > 0);
  return reducer.end(variants > 0);
}

/**
 * Creates a reducer of the lines of a playlist, in parts that end with a URI: those of a whole one take too much
 * memory.
 */
function createReducer({ url, imported, maxSegments }: Source) {
  const substitution = createSubstitution(url, imported);
  const writeOffsets = createOffsets();
  const keepReadable = createReadableKeys();
  let kept: string[] = [];
  return { add, end };

  function* add(read: string[], isMultivariant: boolean): Steps<void> {
    yield;
    const defined = substitution.fill(read).filter((line) => !line.startsWith(defineTag));
    kept = isMultivariant
      ? keepVariants([...kept, ...defined])
      : keepNewestSegments(
          [...kept, ...keepReadable(writeOffsets(defined.filter(isOfSegments)))],
          maxSegments,
        );
  }

  function end(isMultivariant: boolean): SanitizedPlaylist {
    const { variables } = substitution;
    if (isMultivariant) {
      const { lines, renditions } = withVideoRenditions(kept);
      return { text: joinLines(lines), firstSequence: 0n, variables, renditions };
    }
    const { lines, firstSequence } = takeMediaSequence(withoutOpenSegment(kept.flatMap(readClock)));
    return { text: joinLines(lines), firstSequence, variables, renditions: noRenditions };
  }
}

const noRenditions: ReadonlySet<string> = new Set();

/**
 * Leaves out the tags of a segment whose URI is not there yet: that of low-latency parts is complete later, and
 * hls-parser fails on its key or media initialization section.
 */
function withoutOpenSegment(lines: string[]): string[] {
  const end = lines.findLastIndex((line) => !line.startsWith('#')) + 1;
  const ofPlaylist = lines.slice(end).filter((line) => !segmentTag.test(line));
  return [...lines.slice(0, end), ...ofPlaylist];
}

const segmentTag = /^#(EXTINF|EXT-X-(BYTERANGE|DISCONTINUITY|GAP|KEY|MAP|PROGRAM-DATE-TIME))\b(?!-)/;

/** Leaves variants, and of other lines none that only a media playlist has: the parser compares each with every URI. */
function keepVariants(lines: string[]): string[] {
  let isNamed = false;
  return lines.filter((line) => {
    if (line.startsWith(mediaTag)) return true;
    const isUri = !line.startsWith('#');
    const isKept = isUri ? isNamed : /^#(EXTM3U|EXT-X-VERSION|EXT-X-STREAM-INF)\b/.test(line);
    if (isUri) isNamed = false;
    else if (line.startsWith(variantTag)) isNamed = true;
    return isKept;
  });
}

function joinLines(lines: readonly string[]): string {
  if (lines.reduce((sum, { length }) => sum + length + 1, 0) > maxLength)
    throw new PlaylistLimitError('long lines');
  return lines.join('\n');
}

/** Bytes of a line that are read: more than a line of the maximum length has. */
const maxLineBytes = 4 * maxLineLength;
const [lineFeed, carriageReturn] = [10, 13];

/** Yields the lines one by one: the text of a large body, and a list of its lines, take a multiple of its memory. */
function* splitLines(bytes: Uint8Array): Generator<string> {
  const body = withoutZeros(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const lineEnd = body.includes(lineFeed) ? lineFeed : carriageReturn;
  for (let start = 0, lines = 0; start < body.length; lines += 1) {
    if (lines > maxAllLines) throw new PlaylistLimitError('many lines');
    const breakAt = body.indexOf(lineEnd, start);
    const end = breakAt === -1 ? body.length : breakAt;
    const line = body.toString('utf8', start, Math.min(end, start + maxLineBytes)).trim();
    start = end + 1;
    if (line !== '') yield line;
  }
}

/** Servers in C may send the end of their string. */
function withoutZeros(body: Buffer): Buffer {
  let length = body.length;
  while (length > 0 && body[length - 1] === 0) length -= 1;
  return body.subarray(0, length);
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

const rangeTag = '#EXT-X-BYTERANGE:';

/**
 * Returns a function that adds the missing offset to each byte range: the end of the previous segment if it has the
 * same URI, else 0 (RFC 8216, 4.3.2.2). hls-parser uses -1 in the second case and derives later offsets from it.
 */
function createOffsets() {
  let before = { uri: '', end: 0 };
  return (lines: string[]): string[] => {
    const written = [...lines];
    let open: number | null = null;
    for (const [index, line] of lines.entries()) {
      if (line.startsWith(rangeTag)) open = index;
      if (line.startsWith('#')) continue;
      const [length = 0, offset = before.uri === line ? before.end : 0] = rangeAt(lines, open);
      if (open !== null) written[open] = `${rangeTag}${length}@${offset}`;
      before = { uri: line, end: open === null ? 0 : offset + length };
      open = null;
    }
    return written;
  };
}

function rangeAt(lines: string[], index: number | null): number[] {
  const line = index === null ? undefined : lines[index];
  return line === undefined ? [] : line.slice(rangeTag.length).split('@').map(Number);
}

const isOfSegments = (line: string): boolean => !line.startsWith(mediaTag);
const defineTag = '#EXT-X-DEFINE';
const noKey = `${keyTag}METHOD=NONE`;
const identity = 'identity';

/**
 * Returns a function that leaves one key line in front of a segment: of the keys in force the one that can be used
 * without a license (`identity`), in whatever order the playlist has them. A key is in force until the next one of its
 * KEYFORMAT, or METHOD=NONE (RFC 8216, 4.3.2.4). hls-parser takes the last line.
 */
function createReadableKeys() {
  const inForce = new Map<string, string>();
  let written = noKey;
  return (lines: string[]): string[] => {
    const kept: string[] = [];
    for (const line of lines) {
      if (line.startsWith(keyTag)) {
        putInForce(line, inForce);
        continue;
      }
      const key = inForce.get(identity) ?? inForce.values().next().value ?? noKey;
      if (!line.startsWith('#') && key !== written) kept.push((written = key));
      kept.push(line);
    }
    return kept;
  };
}

function putInForce(line: string, inForce: Map<string, string>): void {
  const attributes = readAttributes(line);
  if (/^none$/i.test(attributes.get('METHOD') ?? '')) inForce.clear();
  else inForce.set(attributes.get('KEYFORMAT') ?? identity, line);
}

/** Returns true for the tag of a default rendition of video with its own playlist: others show other views. */
function isVideoRendition(line: string): boolean {
  const attributes = readAttributes(line);
  const isNamed = Boolean(attributes.get('GROUP-ID')) && Boolean(attributes.get('URI'));
  return attributes.get('TYPE') === 'VIDEO' && attributes.get('DEFAULT') === 'YES' && isNamed;
}

/**
 * Returns the lines of a multivariant playlist with the default renditions of its variant streams at the end, as
 * streams with the same attributes, and their URIs: alternatives if the playlist of the variant stream is gone, as for
 * ffmpeg. With them the playlist has `maxVariants` streams at most.
 */
function withVideoRenditions(lines: readonly string[]): { lines: string[]; renditions: ReadonlySet<string> } {
  const [media, streams] = [lines.filter(isMedia), lines.filter((line) => !isMedia(line))];
  const uris = new Map(
    media.map(readAttributes).map((rendition) => [rendition.get('GROUP-ID'), rendition.get('URI')]),
  );
  const variants = streams.filter((line) => line.startsWith(variantTag));
  const own = new Set(streams);
  const renditions = new Map<string, string>();
  for (const variant of variants) {
    const uri = uris.get(readAttributes(variant).get('VIDEO'));
    const isNew = uri !== undefined && !own.has(uri) && !renditions.has(uri);
    if (isNew && variants.length + renditions.size < maxVariants) renditions.set(uri, variant);
  }
  return {
    lines: [...streams, ...[...renditions].flatMap(([uri, variant]) => [variant, uri])],
    renditions: new Set(renditions.keys()),
  };
}

const isMedia = (line: string): boolean => line.startsWith(mediaTag);
