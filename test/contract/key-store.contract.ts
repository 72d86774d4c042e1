import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { ApiKey } from '../../core/records/key.ts';
import type { KeyStore } from '../../core/ports/callers.ts';
import { withLostReplies } from './lost-replies.ts';
import { after, start } from './records.ts';

/** Contract of `KeyStore`. `makeStore` returns an empty store. */
export function describeKeyStore(name: string, makeStore: () => Promise<KeyStore>): void {
  describe(`${name} as a key store`, () => {
    test('a key is found by its hash, as it was stored', async () => {
      const store = await makeStore();
      const key = newKey({ label: 'Schlüssel für die Schleuse', scopes: ['jobs', 'internal'] });

      await store.put(key);

      expect(await store.find(key.hash)).toEqual(key);
      expect(await store.find(newKey().hash)).toBeUndefined();
    });

    test('keys are listed oldest first, of one caller or all, including revoked ones', async () => {
      const store = await makeStore();
      const keys = [1, 2, 3, 4, 5, 6, 7, 8].map((minute) =>
        newKey({ created_at: after(minute * 60).toISOString(), caller: minute > 6 ? 'airport' : 'harbour' }),
      );
      for (const index of [3, 7, 0, 5, 1, 6, 2, 4]) await store.put(keys[index]!);
      await store.revoke(keys[1]!.hash, after(600));
      const hashes = async (caller?: string) =>
        (await store.list({ caller, limit: 100 })).map((key) => key.hash);

      expect(await hashes()).toEqual(keys.map((key) => key.hash));
      expect(await hashes('harbour')).toEqual(keys.slice(0, 6).map((key) => key.hash));
      expect(await hashes('nobody')).toEqual([]);
    });

    test('keys are listed page by page, each once, also if two have the same creation time', async () => {
      const store = await makeStore();
      const keys = [1, 2, 2, 2, 3].map((minute) => newKey({ created_at: after(minute * 60).toISOString() }));
      for (const key of [...keys, newKey({ caller: 'airport' })]) await store.put(key);

      for (const caller of ['harbour', undefined]) {
        const found: ApiKey[] = [];
        for (let page = await store.list({ caller, limit: 2 }); page.length > 0;) {
          expect(page.length).toBeLessThanOrEqual(2);
          found.push(...page);
          page = await store.list({ caller, limit: 2, after: found.at(-1) });
        }
        expect(found).toHaveLength(caller === undefined ? 6 : 5);
        expect(new Set(found.map(({ hash }) => hash)).size).toBe(found.length);
        expect(found.map((key) => key.created_at)).toEqual(found.map((key) => key.created_at).toSorted());
      }
    });

    test('a caller has no more valid keys than its limit after concurrent creations', async () => {
      const store = await makeStore();
      const keys = [1, 2, 3, 4, 5, 6].map(() => newKey());

      const outcomes = await Promise.all(keys.map((key) => store.create(key, 4)));

      expect(outcomes.toSorted()).toEqual(['created', 'created', 'created', 'created', 'full', 'full']);
      expect(await store.list({ limit: 100 })).toHaveLength(4);
      expect(await store.create(newKey({ caller: 'airport' }), 4)).toBe('created');
    });

    test('revoked keys release their place, and keys with a future end release it then', async () => {
      const store = await makeStore();
      const [one, other] = [newKey(), newKey()];
      await store.put(one);
      await store.create(other, 2);
      await store.revoke(one.hash, after(10));
      await store.revoke(other.hash, after(20));
      const made = (seconds: number) => store.create(newKey({ created_at: after(seconds).toISOString() }), 2);

      expect(await made(9)).toBe('full');
      expect(await made(10)).toBe('created');
      expect(await made(19)).toBe('full');
      expect(await made(20)).toBe('created');
    });

    test('a repeated creation is one, also if it took the last place', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      const key = newKey();
      await expect(losing.create(key, 1)).rejects.toThrow(TransientError);

      expect(await losing.create(key, 1)).toBe('created');
      expect(await store.list({ limit: 100 })).toHaveLength(1);
    });

    test('a revoked, rotated or unknown key cannot create keys', async () => {
      const store = await makeStore();
      const maker = newKey();
      await store.put(maker);
      const made = newKey({ created_by: maker.hash });
      expect(await store.create(made, 100)).toBe('created');
      await store.revoke(maker.hash, after(3600));

      expect(await store.create(newKey({ created_by: maker.hash }), 100)).toBe('maker_revoked');
      expect(await store.create(newKey({ created_by: newKey().hash }), 100)).toBe('maker_revoked');
      expect(await store.find(made.hash)).toEqual(made);
      expect(await store.list({ limit: 100 })).toHaveLength(2);
    });

    test('the keys created by a key are listed, for any caller and after its revocation', async () => {
      const store = await makeStore();
      const maker = newKey();
      await store.put(maker);
      const made = [
        newKey({ created_by: maker.hash }),
        newKey({ created_by: maker.hash, caller: 'airport' }),
      ];
      for (const key of made) await store.create(key, 100);
      await store.create(newKey({ created_by: made[0]!.hash }), 100);
      await store.revoke(maker.hash, after(10));
      await store.revoke(made[1]!.hash, after(20));

      const hashes = (await store.listMadeBy(maker.hash)).map(({ hash }) => hash);
      expect(hashes.toSorted()).toEqual(made.map(({ hash }) => hash).toSorted());
      expect((await store.listMadeBy(maker.hash)).map((key) => key.created_by)).toEqual([
        maker.hash,
        maker.hash,
      ]);
      expect(await store.listMadeBy(made[1]!.hash)).toEqual([]);
      expect(await store.listMadeBy('nonsense')).toEqual([]);
    });

    test("the creation time of a caller's newest keys is found by position", async () => {
      const store = await makeStore();
      for (const minute of [3, 1, 2])
        await store.put(newKey({ created_at: after(minute * 60).toISOString() }));
      await store.put(newKey({ caller: 'airport' }));

      const times = [0, 1, 2, 3].map((position) => store.creationTime('harbour', position));
      expect(await Promise.all(times)).toEqual([after(180), after(120), after(60), undefined]);
    });

    test('a revoked key returns the earliest of its revocation times', async () => {
      const store = await makeStore();
      const key = newKey();
      await store.put(key);

      await store.revoke(key.hash, after(10));
      await store.revoke(key.hash, after(20));
      expect(await store.find(key.hash)).toEqual({ ...key, revoked_at: after(10).toISOString() });

      await store.revoke(key.hash, after(5));
      expect(await store.find(key.hash)).toEqual({ ...key, revoked_at: after(5).toISOString() });
    });

    test('a label is changed and removed, and no other field', async () => {
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

    test('a key that is stored again after its revocation stays revoked', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      const key = newKey();
      await expect(losing.put(key)).rejects.toThrow(TransientError);
      await store.revoke(key.hash, after(10));

      await losing.put(key);

      expect((await store.find(key.hash))?.revoked_at).toBe(after(10).toISOString());
      expect(await store.list({ limit: 100 })).toHaveLength(1);
    });

    test('a key stores its last use, which a late touch does not set back', async () => {
      const store = await makeStore();
      const key = newKey();
      await store.put(key);

      await store.touch(key.hash, after(20));
      await store.touch(key.hash, after(10));

      expect(await store.find(key.hash)).toEqual({ ...key, last_used_at: after(20).toISOString() });
    });

    test('a concurrent use and revocation are both stored', async () => {
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

    test('one of many concurrent claims of a key succeeds, and none of a used, revoked or unknown one', async () => {
      const store = await makeStore();
      const [key, used, revoked] = [newKey(), newKey(), newKey()];
      for (const each of [key, used, revoked]) await store.put(each);
      await store.touch(used.hash, after(1));
      await store.revoke(revoked.hash, after(2));

      const claims = await Promise.all([3, 3, 3, 3].map((second) => store.claim(key.hash, after(second))));

      expect(claims.filter(Boolean)).toHaveLength(1);
      expect((await store.find(key.hash))?.last_used_at).toBe(after(3).toISOString());
      expect(await store.claim(used.hash, after(7))).toBe(false);
      expect(await store.claim(revoked.hash, after(7))).toBe(false);
      expect(await store.claim(newKey().hash, after(7))).toBe(false);
    });

    test('revoking, touching or labeling an unknown key creates none', async () => {
      const store = await makeStore();
      const { hash } = newKey();

      await store.revoke(hash, start);
      await store.touch(hash, start);
      await store.relabel(hash, 'nobody');

      expect(await store.find(hash)).toBeUndefined();
      expect(await store.list({ limit: 100 })).toEqual([]);
    });
  });
}

export function newKey(overrides: Partial<ApiKey> = {}): ApiKey {
  return {
    hash: randomBytes(32).toString('hex'),
    prefix: 'wp_4f9a',
    caller: 'harbour',
    scopes: ['jobs'],
    label: null,
    created_by: null,
    created_at: start.toISOString(),
    last_used_at: null,
    revoked_at: null,
    ...overrides,
  };
}
