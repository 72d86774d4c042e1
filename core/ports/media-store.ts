/** Storage of frames, clips and what else expires with them. */
export interface MediaStore {
  put(
    key: string,
    bytes: Uint8Array,
    contentType: 'image/jpeg' | 'video/mp4' | 'application/json',
  ): Promise<void>;
  /** Returns undefined if the object was never stored or has expired. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Removes objects. Missing keys are no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Removes all captures and evidence of a source. Returns how many. */
  removeOfSource(sourceId: string): Promise<number>;
}

/** Creates a media store in memory. */
export function createMemoryMedia(media = new Map<string, Uint8Array>()): MediaStore {
  return {
    put: async (key, bytes) => void media.set(key, bytes),
    get: async (key) => media.get(key),
    remove: async (keys) => keys.forEach((key) => media.delete(key)),
    removeOfSource: async (sourceId) => {
      const keys = [...media.keys()].filter((key) => key.includes(`/${sourceId}/`));
      keys.forEach((key) => media.delete(key));
      return keys.length;
    },
  };
}
