const mediaTag = '#EXT-X-MEDIA:';
const variantTag = '#EXT-X-STREAM-INF';

/** Returns true for the line of a rendition of video that has a playlist of its own. */
export function isVideoRendition(line: string): boolean {
  if (!line.startsWith(mediaTag)) return false;
  const attributes = readAttributes(line);
  return attributes.get('TYPE') === 'VIDEO' && Boolean(attributes.get('URI'));
}

/**
 * Returns the lines of a multivariant playlist with the default rendition of each variant stream behind it, as one with
 * the same attributes: an alternative if the playlist of the variant stream is gone, as for ffmpeg.
 */
export function withVideoRenditions(lines: readonly string[]): string[] {
  const uris = new Map<string | undefined, string | undefined>();
  for (const rendition of lines.filter(isVideoRendition).map(readAttributes)) {
    const group = rendition.get('GROUP-ID');
    if (rendition.get('DEFAULT') === 'YES' || !uris.has(group)) uris.set(group, rendition.get('URI'));
  }
  let variant = '';
  return lines.flatMap((line) => {
    if (line.startsWith(variantTag)) variant = line;
    if (line.startsWith('#')) return line.startsWith(mediaTag) ? [] : [line];
    const uri = uris.get(readAttributes(variant).get('VIDEO'));
    return uri === undefined || uri === line ? [line] : [line, variant, uri];
  });
}

/** A quoted string may hold names with values (RFC 8216, 4.2). */
const attribute = /(?<![A-Z0-9-])(TYPE|GROUP-ID|URI|DEFAULT|VIDEO)=(?:"([^"]*)"|([^",]*))|"[^"]*"/g;

function readAttributes(line: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, quoted, plain = ''] of line.matchAll(attribute))
    if (name) attributes.set(name, quoted ?? plain.trim());
  return attributes;
}
