/** Part of an object: its first and its last byte, both included. */
export type ByteRange = { first: number; last: number };

export type MediaFile = {
  bytes: number;
  /** Identity of its content among those that had its address. */
  tag: string;
  read: (range: ByteRange) => Promise<Uint8Array>;
};

/** Storage of frames, clips and what else expires with them. */
export interface MediaStore {
  put(
    key: string,
    bytes: Uint8Array,
    contentType: 'image/jpeg' | 'video/mp4' | 'application/json',
  ): Promise<void>;
  /** Returns the object, or what it has of a range. Returns undefined if it was never stored or has expired. */
  get(key: string, range?: ByteRange): Promise<Uint8Array | undefined>;
  /** Removes objects. Missing keys are no error. */
  remove(keys: readonly string[]): Promise<void>;
  /**
   * Removes all captures and evidence of a source. Returns how many. A store that removes them in requests ends after
   * the one that reaches `enough`.
   */
  removeOfSource(sourceId: string, enough?: number): Promise<number>;
}

export function createMemoryMedia(media = new Map<string, Uint8Array>()): MediaStore {
  return {
    put: async (key, bytes) => void media.set(key, bytes),
    get: async (key, range) => readRange(media.get(key), range),
    remove: async (keys) => keys.forEach((key) => media.delete(key)),
    removeOfSource: async (sourceId) => {
      const keys = [...media.keys()].filter((key) => key.includes(`/${sourceId}/`));
      keys.forEach((key) => media.delete(key));
      return keys.length;
    },
  };
}

/** Returns a part of bytes that are in memory; all of them without a range. */
export function readRange(bytes: Uint8Array | undefined, range?: ByteRange): Uint8Array | undefined {
  return range ? bytes?.subarray(range.first, range.last + 1) : bytes;
}

/** Returns a stored object of known size, whose reading throws `absent` if it is gone. */
export function openMedia(
  key: string,
  bytes: number,
  absent: Error,
  { media }: { media: Pick<MediaStore, 'get'> },
): MediaFile {
  const read = async (range: ByteRange) => {
    const part = await media.get(key, range);
    if (!part) throw absent;
    return part;
  };
  return { bytes, tag: nameContent(key, bytes), read };
}

/** Returns an object that was read from its key. */
export function holdMedia(key: string, content: Uint8Array): MediaFile {
  return {
    bytes: content.length,
    tag: nameContent(key, content.length),
    read: async ({ first, last }) => content.subarray(first, last + 1),
  };
}

/** A key has one content. */
function nameContent(key: string, bytes: number): string {
  return `${key.split('/').at(-1)}-${bytes}`;
}
