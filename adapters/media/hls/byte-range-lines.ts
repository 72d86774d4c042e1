const tag = '#EXT-X-BYTERANGE:';

/**
 * Writes the offset into each byte range that leaves it out: where the segment before ended, if that was of the same file, else its
 * beginning (RFC 8216, 4.3.2.2). hls-parser takes the latter for -1, and counts on from there.
 */
export function withRangeOffsets(lines: string[]): string[] {
  if (!lines.some((line) => line.startsWith(tag))) return lines;
  const written = [...lines];
  let open: number | null = null;
  let before = { uri: '', end: 0 };
  for (const [index, line] of lines.entries()) {
    if (line.startsWith(tag)) open = index;
    if (line.startsWith('#')) continue;
    const [length = 0, offset = before.uri === line ? before.end : 0] = rangeAt(lines, open);
    if (open !== null) written[open] = `${tag}${length}@${offset}`;
    before = { uri: line, end: open === null ? 0 : offset + length };
    open = null;
  }
  return written;
}

function rangeAt(lines: string[], index: number | null): number[] {
  const line = index === null ? undefined : lines[index];
  return line === undefined ? [] : line.slice(tag.length).split('@').map(Number);
}
