import type { Positions } from './watch-logs.ts';

/** Text of positions in the logs of several watches, as `id:` of an event stream and as `after` of a page: `<watch_id>.<sequence>`, joined. */
export function formatCursor(positions: Positions): string {
  return [...positions].map(([id, sequence]) => `${id}.${sequence}`).join('_');
}

/** Parses positions. Returns undefined for another text. */
export function parseCursor(text: string): Positions | undefined {
  const entries = text.split('_').map((part) => entryPattern.exec(part));
  const found = entries.flatMap((match) => (match ? [[match[1] ?? '', Number(match[2])] as const] : []));
  return found.length === entries.length ? new Map(found) : undefined;
}

const entryPattern = /^([0-9a-f-]{36})\.(\d{1,15})$/;
