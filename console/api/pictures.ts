import type { Api } from './api.ts';

/** Cache of images that require the key. */
export type Pictures = {
  /** Returns a blob URL for `<img>` of an image that requires the key. Throws `Problem`. */
  urlFor(path: string): Promise<string>;
  /** Removes all images and revokes their blob URLs. */
  clear(): void;
};

/** Maximum number of cached images, about 60 kB each. */
const keptAtMost = 200;

/** Creates the image cache. `<img src>` cannot send the key, so images are fetched and shown as blob URLs. */
export function createPictures(api: Api): Pictures {
  const kept = new Map<string, Promise<string>>();

  const forget = (path: string) => {
    const address = kept.get(path);
    kept.delete(path);
    address?.then(URL.revokeObjectURL, () => undefined);
  };

  return {
    urlFor: (path) => {
      const keptPicture = kept.get(path);
      if (keptPicture) return keptPicture;
      const address = api.picture(path).then((blob) => URL.createObjectURL(blob));
      // A failed request is not cached: a retry may succeed.
      address.catch(() => kept.delete(path));
      kept.set(path, address);
      const oldest = kept.size > keptAtMost ? kept.keys().next().value : undefined;
      if (oldest !== undefined) forget(oldest);
      return address;
    },
    clear: () => {
      for (const path of kept.keys()) forget(path);
    },
  };
}
