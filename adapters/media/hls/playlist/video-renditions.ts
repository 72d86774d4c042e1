import { mediaTag, readAttributes, variantTag } from './tags.ts';

/** Returns true for the tag of a default rendition of video with its own playlist: others show other views. */
export function isVideoRendition(line: string): boolean {
  const attributes = readAttributes(line);
  const isNamed = Boolean(attributes.get('GROUP-ID')) && Boolean(attributes.get('URI'));
  return attributes.get('TYPE') === 'VIDEO' && attributes.get('DEFAULT') === 'YES' && isNamed;
}

/**
 * Returns the lines of a multivariant playlist with the default renditions of its variant streams at the end, as
 * streams with the same attributes, and their URIs: alternatives if the playlist of the variant stream is gone, as for
 * ffmpeg. With them the playlist has `maxVariants` streams at most.
 */
export function withVideoRenditions(
  lines: readonly string[],
  maxVariants: number,
): { lines: string[]; renditions: ReadonlySet<string> } {
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
