import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { MediaStore } from '../../core/ports/media-store.ts';
import { withLostReplies } from './lost-replies.ts';

/** Contract of `MediaStore`. `makeStore` returns an empty store. */
export function describeMediaStore(name: string, makeStore: () => Promise<MediaStore>): void {
  describe(`${name} as a media store`, () => {
    test('a frame and a clip are returned byte for byte', async () => {
      const store = await makeStore();
      const [picture, clip] = [randomBytes(90_000), randomBytes(2_000_000)];
      const [pictureKey, clipKey] = [newKey('jpg'), newKey('mp4')];

      await Promise.all([
        store.put(pictureKey, picture, 'image/jpeg'),
        store.put(clipKey, clip, 'video/mp4'),
      ]);

      expect(picture.equals((await store.get(pictureKey))!)).toBe(true);
      expect(clip.equals((await store.get(clipKey))!)).toBe(true);
    });

    test.each([
      [0, 9, 10],
      [1_999_990, 2_000_010, 10],
      [2_000_000, 2_000_010, 0],
    ])('the bytes %i to %i of an object are returned, as far as it has them', async (first, last, length) => {
      const store = await makeStore();
      const [key, clip] = [newKey('mp4'), randomBytes(2_000_000)];
      await store.put(key, clip, 'video/mp4');
      // Removes it from a memory that the store may have of small ones.
      await Promise.all(
        Array.from({ length: 5 }, () => store.put(newKey('mp4'), randomBytes(2_000_000), 'video/mp4')),
      );

      const part = Buffer.from((await store.get(key, { first, last }))!);

      expect(part.equals(clip.subarray(first, last + 1))).toBe(true);
      expect(part.length).toBe(length);
      expect(await store.get(newKey('mp4'), { first, last })).toBeUndefined();
    });

    test('an unknown object is undefined', async () => {
      const store = await makeStore();

      expect(await store.get(newKey('jpg'))).toBeUndefined();
    });

    test('a removed object is gone, and all others stay', async () => {
      const store = await makeStore();
      const [one, other, never] = [newKey('jpg'), newKey('mp4'), newKey('jpg')];
      await store.put(one, Buffer.from('one'), 'image/jpeg');
      await store.put(other, Buffer.from('other'), 'video/mp4');

      await store.remove([one, never]);
      await store.remove([one]);

      expect(await store.get(one)).toBeUndefined();
      expect(Buffer.from((await store.get(other))!).toString()).toBe('other');
    });

    test('the media of a source are removed, captures and evidence, and those of others stay', async () => {
      const store = await makeStore();
      const [source, other] = [randomUUID(), randomUUID()];
      const keys = (id: string) => [
        `captures/${id}/1-a.jpg`,
        `captures/${id}/1-a.mp4`,
        `captures/${id}/2-b.jpg`,
        `evidence/7/${id}/1-a.jpg`,
      ];
      for (const key of [...keys(source), ...keys(other)])
        await store.put(key, Buffer.from('x'), 'image/jpeg');

      expect(await store.removeOfSource(source)).toBe(4);
      expect(await store.removeOfSource(source)).toBe(0);

      for (const key of keys(source)) expect(await store.get(key)).toBeUndefined();
      for (const key of keys(other)) expect(await store.get(key)).toBeDefined();
    });

    test('a later put replaces an earlier one, and a repeated put changes nothing', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      const key = newKey('jpg');
      await store.put(key, Buffer.from('first'), 'image/jpeg');

      await expect(losing.put(key, Buffer.from('second'), 'image/jpeg')).rejects.toThrow(TransientError);
      await losing.put(key, Buffer.from('second'), 'image/jpeg');

      expect(Buffer.from((await store.get(key))!).toString()).toBe('second');
    });

    test('a reader beside writers gets one complete frame or another', async () => {
      const store = await makeStore();
      const key = newKey('jpg');
      const pictures = [0, 1, 2, 3].map((fill) => Buffer.alloc(300_000, fill));
      await store.put(key, pictures[0]!, 'image/jpeg');

      const writing = Promise.all(pictures.map((picture) => store.put(key, picture, 'image/jpeg')));
      const read = await Promise.all(Array.from({ length: 20 }, () => store.get(key)));
      await writing;

      for (const bytes of read) expect(pictures.some((picture) => picture.equals(bytes!))).toBe(true);
    });
  });
}

function newKey(extension: 'jpg' | 'mp4'): string {
  return `captures/${randomUUID()}/12-${randomUUID().slice(0, 8)}.${extension}`;
}
