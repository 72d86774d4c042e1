/**
 * Returns about the bytes that a value of plain data keeps in memory: of an array of bytes all of its buffer, of which
 * it may be a small part. A text counts by its length, so a cut one must be copied before (`structuredClone`): V8 keeps
 * the whole text of which it is a part.
 */
export function retainedBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (ArrayBuffer.isView(value)) return 64 + value.buffer.byteLength;
  const parts = value instanceof Map ? [...value].flat() : Object.entries(value).flat();
  return parts.reduce<number>((sum, part) => sum + retainedBytes(part), 64);
}

/** Returns bytes that keep no others in memory: themselves, or a copy if they are a part of a larger buffer. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
