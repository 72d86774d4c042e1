import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { ApiKey } from '../../core/key.ts';
import type { KeyStore } from '../../core/ports/key-store.ts';
import { withLostReplies } from './lost-replies.ts';
import { after, start } from './records.ts';

/** What every `KeyStore` promises. `makeStore` gives an empty one each time. */
export function describeKeyStore(name: string, makeStore: () => Promise<KeyStore>): void {
  describe(`${name} as a key store`, () => {
    it('a key is found by its hash, as it was put', async () => {
      const store = await makeStore();
      const key = newKey({ label: 'Schlüssel für die Schleuse', scopes: ['jobs', 'internal'] });

      await store.put(key);

      expect(await store.find(key.hash)).toEqual(key);
      expect(await store.find(newKey().hash)).toBeUndefined();
    });

    it('keys are listed oldest first, one caller’s or all, revoked ones too', async () => {
      const store = await makeStore();
      const keys = [1, 2, 3, 4, 5, 6, 7, 8].map((minute) =>
        newKey({ created_at: after(minute * 60).toISOString(), caller: minute > 6 ? 'airport' : 'harbour' }),
      );
      for (const index of [3, 7, 0, 5, 1, 6, 2, 4]) await store.put(keys[index]!);
      await store.revoke(keys[1]!.hash, after(600));
      const hashes = async (caller?: string) => (await store.list(caller)).map((key) => key.hash);

      expect(await hashes()).toEqual(keys.map((key) => key.hash));
      expect(await hashes('harbour')).toEqual(keys.slice(0, 6).map((key) => key.hash));
      expect(await hashes('nobody')).toEqual([]);
    });

    it('a revoked key says since when, and of several ends the earliest holds', async () => {
      const store = await makeStore();
      const key = newKey();
      await store.put(key);

      await store.revoke(key.hash, after(10));
      await store.revoke(key.hash, after(20));
      expect(await store.find(key.hash)).toEqual({ ...key, revoked_at: after(10).toISOString() });

      await store.revoke(key.hash, after(5));
      expect(await store.find(key.hash)).toEqual({ ...key, revoked_at: after(5).toISOString() });
    });

    it('a label is changed and removed, and nothing else with it', async () => {
      const store = await makeStore();
      const key = newKey({ label: 'camera 1' });
      await store.put(key);
      await store.revoke(key.hash, after(10));

      await store.relabel(key.hash, 'camera 2');
      const changed = { ...key, label: 'camera 2', revoked_at: after(10).toISOString() };
      expect(await store.find(key.hash)).toEqual(changed);

      await store.relabel(key.hash, null);
      expect(await store.find(key.hash)).toEqual({ ...changed, label: null });
    });

    it('a key that is put again after its revocation stays revoked', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      const key = newKey();
      await expect(losing.put(key)).rejects.toThrow(TransientError);
      await store.revoke(key.hash, after(10));

      await losing.put(key);

      expect((await store.find(key.hash))?.revoked_at).toBe(after(10).toISOString());
      expect(await store.list()).toHaveLength(1);
    });

    it('a key remembers when it was last used, and a late touch does not set that back', async () => {
      const store = await makeStore();
      const key = newKey();
      await store.put(key);

      await store.touch(key.hash, after(20));
      await store.touch(key.hash, after(10));

      expect(await store.find(key.hash)).toEqual({ ...key, last_used_at: after(20).toISOString() });
    });

    it('a use and a revocation at once are both kept', async () => {
      const store = await makeStore();
      const key = newKey();
      await store.put(key);

      await Promise.all([store.touch(key.hash, after(5)), store.revoke(key.hash, after(6))]);

      expect(await store.find(key.hash)).toEqual({
        ...key,
        last_used_at: after(5).toISOString(),
        revoked_at: after(6).toISOString(),
      });
    });

    it('revoking, touching or labelling a key that is not there makes none', async () => {
      const store = await makeStore();
      const { hash } = newKey();

      await store.revoke(hash, start);
      await store.touch(hash, start);
      await store.relabel(hash, 'nobody');

      expect(await store.find(hash)).toBeUndefined();
      expect(await store.list()).toEqual([]);
    });
  });
}

function newKey(overrides: Partial<ApiKey> = {}): ApiKey {
  return {
    hash: randomBytes(32).toString('hex'),
    prefix: 'wp_4f9a',
    caller: 'harbour',
    scopes: ['jobs'],
    label: null,
    created_at: start.toISOString(),
    last_used_at: null,
    revoked_at: null,
    ...overrides,
  };
}
