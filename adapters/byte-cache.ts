import { LRUCache } from 'lru-cache';
import type { CacheUse } from '../core/ports/observability.ts';
import { createFairCache, type FairCache } from './fair-cache.ts';

/** Cache of the newest values, by text. */
export type ByteCache<Value extends object | string | number | true> = Pick<
  LRUCache<string, Value>,
  'get' | 'set' | 'has' | 'delete' | 'clear'
>;

export type ByteCacheOptions<Value> = {
  /** Name in the metrics. */
  name: string;
  max: number;
  /** Maximum bytes of keys and values with all that they keep in memory. A value that exceeds it alone is not kept. */
  maxBytes: number;
  /** Bytes of a value whose functions hide them. Default: `retainedBytes`. */
  bytesOf?: (value: Value) => number;
};

/** Memory of an entry beside key and value. */
const entryBytes = 200;

/** Caches of this process, for the metrics. They may end before it, as in tests. */
const caches: { name: string; maxBytes: number; read: () => number | undefined }[] = [];

/** Creates a cache that is bounded in bytes. Its keys keep no longer text in memory, of which they may be a part. */
export function createByteCache<Value extends object | string | number | true>({
  name,
  max,
  maxBytes,
  bytesOf = retainedBytes,
}: ByteCacheOptions<Value>): ByteCache<Value> {
  const cache = new LRUCache<string, Value>({
    max,
    maxSize: maxBytes,
    sizeCalculation: (value, key) => entryBytes + retainedBytes(key) + bytesOf(value),
  });
  registerCache(name, maxBytes, cache, ({ calculatedSize }) => calculatedSize);
  return cache;
}

/**
 * Creates a cache that callers share fairly, bounded in bytes. An entry counts at least its part of the bytes by `max`.
 */
export function createFairByteCache<Value>({
  name,
  max,
  maxBytes,
  bytesOf = retainedBytes,
  onEvict,
}: ByteCacheOptions<Value> & { onEvict?: (value: Value) => void }): FairCache<string, Value> {
  const least = Math.floor(maxBytes / max);
  const cache = createFairCache<string, Value>({
    max: maxBytes,
    sizeOf: (value, key) => Math.max(least, entryBytes + retainedBytes(key) + bytesOf(value)),
    ...(onEvict && { onEvict }),
  });
  registerCache(name, maxBytes, cache, ({ size }) => size());
  return cache;
}

/** Lists a cache, or other memory with a bound, in the metrics. `read` returns its bytes. */
export function registerCache<Cache extends object>(
  name: string,
  maxBytes: number,
  cache: Cache,
  read: (cache: Cache) => number,
): void {
  const held = new WeakRef(cache);
  caches.push({
    name,
    maxBytes,
    read: () => {
      const current = held.deref();
      return current && read(current);
    },
  });
}

/** Reads what the caches of this process hold, those of one name together. */
export function readCacheUse(): CacheUse[] {
  const uses = new Map<string, CacheUse>();
  for (const { name, maxBytes, read } of caches) {
    const bytes = read();
    if (bytes === undefined) continue;
    const use = uses.get(name) ?? { cache: name, bytes: 0, maxBytes: 0 };
    uses.set(name, { ...use, bytes: use.bytes + bytes, maxBytes: use.maxBytes + maxBytes });
  }
  return [...uses.values()].toSorted((one, other) => one.cache.localeCompare(other.cache));
}

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
