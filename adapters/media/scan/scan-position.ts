/**
 * Position up to which a stream was scanned. Media sequence numbers and names are those of one rendition; the time, on
 * the clock of the captures, replaces them where they do not apply.
 */
export type ScanPosition = { rendition: string; segment: string; atMs: number };

/** Stands for the rendition, segment, session or key frame of a position of which only the time is known. */
export const unknown = '?';

/** Encodes a position: at most 200 characters, no part of a URL. */
export function formatPosition({ rendition, segment, atMs }: ScanPosition): string {
  return `${rendition} ${segment} ${Math.round(atMs)}`;
}

/** Decodes a position. Returns null before the first scan, and for unreadable text. */
export function parsePosition(text: string | null): ScanPosition | null {
  const [, rendition, segment, at] = /^(\S+) (\S+) (-?\d{1,16})$/.exec(text ?? '') ?? [];
  return rendition === undefined || segment === undefined ? null : { rendition, segment, atMs: Number(at) };
}
