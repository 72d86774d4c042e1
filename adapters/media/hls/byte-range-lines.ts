const tag = '#EXT-X-BYTERANGE:';

/**
 * Adds the missing offset to each byte range: the end of the previous segment if it has the same URI, else 0 (RFC
 * 8216, 4.3.2.2). hls-parser uses -1 in the second case and derives later offsets from it.
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
