import type { MediaStore } from '../../core/ports/media-store.ts';

/** Creates a media store in memory: a replay needs the media of one check, and those of its alerts. */
export function createMemoryMedia(): MediaStore {
  const media = new Map<string, Uint8Array>();
  return {
    put: async (key, bytes) => void media.set(key, bytes),
    get: async (key) => media.get(key),
    removeOfSource: async () => 0,
    remove: async (keys) => keys.forEach((key) => media.delete(key)),
  };
}
