import { describe, expect, test } from 'vitest';
import { newCaller, type SecretVersions } from '../../core/records/caller.ts';
import { TransientError } from '../../core/errors.ts';
import type { CallerStore } from '../../core/ports/callers.ts';
import { withLostReplies } from './lost-replies.ts';
import { after, start } from './records.ts';

const second: SecretVersions = {
  version: 2,
  previous: [{ version: 1, valid_until: after(60).toISOString() }],
};

/** Contract of `CallerStore`. `makeStore` returns an empty store. */
export function describeCallerStore(name: string, makeStore: () => Promise<CallerStore>): void {
  describe(`${name} as a caller store`, () => {
    test('an added caller is found, and an unknown caller is not', async () => {
      const store = await makeStore();
      const caller = newCaller('harbour', 'Hafen “Süd”', start);

      await store.add(caller);

      expect(await store.find('harbour')).toEqual(caller);
      expect(await store.find('airport')).toBeUndefined();
    });

    test('adding a caller again changes nothing', async () => {
      const store = await makeStore();
      const caller = newCaller('harbour', 'the first', start);
      await store.add(caller);
      await store.replaceSecret('harbour', 1, second);

      await store.add(newCaller('harbour', 'the second', after(10)));

      expect(await store.find('harbour')).toEqual({ ...caller, webhook_secret: second });
    });

    test('callers are listed by name, page by page', async () => {
      const store = await makeStore();
      for (const name of ['b', 'a', 'Z', 'a-1', 'c']) await store.add(newCaller(name, null, start));
      const names = async (after: string, limit: number) =>
        (await store.list(after, limit)).map(({ caller }) => caller);

      expect(await names('', 3)).toEqual(['Z', 'a', 'a-1']);
      expect(await names('a-1', 3)).toEqual(['b', 'c']);
      expect(await names('c', 3)).toEqual([]);
    });

    test('a secret is replaced only with the current version as condition', async () => {
      const store = await makeStore();
      await store.add(newCaller('harbour', null, start));

      const results = await Promise.all([
        store.replaceSecret('harbour', 1, second),
        store.replaceSecret('harbour', 1, { version: 2, previous: [] }),
      ]);

      expect(results.toSorted()).toEqual(['outdated', 'replaced']);
      const winner = results[0] === 'replaced' ? second : { version: 2, previous: [] };
      expect((await store.find('harbour'))?.webhook_secret).toEqual(winner);
      expect(await store.replaceSecret('airport', 1, second)).toBe('outdated');
      expect(await store.find('airport')).toBeUndefined();
    });

    test('the filter of webhook events is replaced without the secret, and the secret without the filter', async () => {
      const store = await makeStore();
      const caller = newCaller('harbour', null, start);
      await store.add(caller);

      await store.setWebhookEvents('harbour', ['watch_triggered', 'error']);
      await store.replaceSecret('harbour', 1, second);
      expect(await store.find('harbour')).toEqual({
        ...caller,
        webhook_secret: second,
        webhook_events: ['watch_triggered', 'error'],
      });
      await store.setWebhookEvents('harbour', null);
      expect(await store.find('harbour')).toEqual({ ...caller, webhook_secret: second });
      await store.setWebhookEvents('airport', null);
      expect(await store.find('airport')).toBeUndefined();
    });

    test('a replacement whose reply was lost took effect and is outdated when repeated', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      await store.add(newCaller('harbour', null, start));

      await expect(losing.replaceSecret('harbour', 1, second)).rejects.toThrow(TransientError);

      expect(await losing.replaceSecret('harbour', 1, second)).toBe('outdated');
      expect((await store.find('harbour'))?.webhook_secret).toEqual(second);
    });
  });
}
