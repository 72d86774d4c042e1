export const variantTag = '#EXT-X-STREAM-INF';
export const mediaTag = '#EXT-X-MEDIA:';
export const keyTag = '#EXT-X-KEY:';

/** A quoted string may hold names with values (RFC 8216, 4.2). */
const attribute = /(?<![A-Z0-9-])([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))|"[^"]*"/g;

/** Returns the attributes of a tag by name, without quotes. */
export function readAttributes(line: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, quoted, plain = ''] of line.matchAll(attribute))
    if (name !== undefined) attributes.set(name, quoted ?? plain.trim());
  return attributes;
}
