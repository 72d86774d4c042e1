import type { Api } from './api.ts';

export type Pictures = {
  /** An address for `<img>` of a picture behind the key. Throws `Problem`. */
  addressOf(path: string): Promise<string>;
  /** Forgets all of them, and frees what they hold. */
  clear(): void;
};

/** About 60 kB each. */
const keptAtMost = 200;

/** Pictures are fetched with the key in a header, which `<img src>` cannot send, and shown from memory. */
export function createPictures(api: Api): Pictures {
  const kept = new Map<string, Promise<string>>();

  const forget = (path: string) => {
    const address = kept.get(path);
    kept.delete(path);
    address?.then(URL.revokeObjectURL, () => undefined);
  };

  return {
    addressOf: (path) => {
      const known = kept.get(path);
      if (known) return known;
      const address = api.picture(path).then((blob) => URL.createObjectURL(blob));
      // A picture that could not be fetched may be there the next time.
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
