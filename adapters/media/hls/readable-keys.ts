const keyTag = '#EXT-X-KEY:';
const noKey = `${keyTag}METHOD=NONE`;
const identity = 'identity';

/**
 * Leaves one key line in front of a segment: of the keys in force the one that can be used without a license (`identity`), in whatever order the
 * playlist has them. A key is in force until the next one of its KEYFORMAT, or METHOD=NONE (RFC 8216, 4.3.2.4). hls-parser takes the last line.
 */
export function keepReadableKeys(lines: string[]): string[] {
  if (!lines.some((line) => line.startsWith(keyTag) && line.includes('KEYFORMAT='))) return lines;
  const inForce = new Map<string, string>();
  const kept: string[] = [];
  let written = noKey;
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
}

function putInForce(line: string, inForce: Map<string, string>): void {
  const attributes = parseAttributes(line.slice(keyTag.length));
  if (attributes.get('METHOD') === 'NONE') inForce.clear();
  else inForce.set(attributes.get('KEYFORMAT') ?? identity, line);
}

/** An attribute list (RFC 8216, 4.2): a quoted string may hold commas and equals signs. */
function parseAttributes(list: string): Map<string, string> {
  // A name begins where no other one ends: otherwise each character of a long one would begin a search.
  const pairs = list.matchAll(/(?<![A-Z0-9-])([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g);
  return new Map([...pairs].map(([, name = '', quoted, plain = '']) => [name, quoted ?? plain.trim()]));
}
