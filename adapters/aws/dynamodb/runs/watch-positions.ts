import { z } from 'zod';

/** Sequence of the newest event that a reader has, by watch. A watch without an entry is new to the reader. */
export type Positions = ReadonlyMap<string, number>;

/** Maximum positions that one text has room for: `after` of `/watches/events` is shorter than 8,000 characters, and an entry takes 28. */
export const maxPositions = 285;

/** Formats positions in the logs of several watches as one text: 16 bytes of each id, and its sequence in 5 bytes. */
export function formatPositions(positions: Positions): string {
  const entries = [...positions].map(([id, sequence]) => {
    const entry = Buffer.alloc(entryBytes);
    entry.write(id.replaceAll('-', ''), 'hex');
    entry.writeUIntBE(sequence, idBytes, entryBytes - idBytes);
    return entry;
  });
  return `v${Buffer.concat(entries).toString('base64url')}`;
}

/** Parses positions. Returns undefined for another text. */
export function parsePositions(text: string): Positions | undefined {
  const bytes = Buffer.from(text.slice(1), 'base64url');
  if (`v${bytes.toString('base64url')}` !== text || bytes.length % entryBytes !== 0) return undefined;
  const offsets = Array.from({ length: bytes.length / entryBytes }, (_, index) => index * entryBytes);
  const entries = offsets.map((offset) => {
    const id = bytes.toString('hex', offset, offset + idBytes).replace(uuidParts, '$1-$2-$3-$4-$5');
    return [id, bytes.readUIntBE(offset + idBytes, entryBytes - idBytes)] as const;
  });
  return entries.every(([id]) => z.uuid().safeParse(id).success) ? new Map(entries) : undefined;
}

const idBytes = 16;
const entryBytes = 21;
const uuidParts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
