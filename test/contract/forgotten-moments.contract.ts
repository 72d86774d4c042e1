import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deliverMessage, type DeliverMessageDeps } from '../../core/delivery/deliver.ts';
import { queueMessageSchema, type QueueMessage } from '../../core/records/delivery.ts';
import { addCaller, eraseCaller } from '../../core/access/callers.ts';
import { operator } from '../../core/access/keys.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { toStems } from '../../core/memory/stems.ts';
import type { KeyStore } from '../../core/ports/callers.ts';
import type { Moment } from '../../core/records/moment.ts';
import { watchPatchSchema, watchRequestSchema } from '../../core/requests/watches.ts';
import { deleteStoredWatch } from '../../core/watch/control-watch.ts';
import { editWatch } from '../../core/watch/edit-watch.ts';
import type { viewRuns } from '../support/select-runs.ts';
import { newWatchConfig } from '../support/watches/watch-records.ts';
import { createWorld, type World } from '../support/world.ts';
import { newMoment, remember } from './moment-store.contract.ts';

type Stores = { keys: KeyStore } & Pick<
  CoreDeps,
  'moments' | 'media' | 'callers' | 'eraser' | 'deliveries' | 'usage'
> &
  Pick<ReturnType<typeof viewRuns>, 'runs' | 'watches' | 'jobs'>;

export type ForgettingStores = {
  stores: Stores;
  /** Returns everything that the stores keep, with the bytes on disk and those of a backup. */
  readAll: () => Promise<string>;
  /** Removes what has expired by a time; absent where the service of a table does so. */
  sweep?: (now: Date) => Promise<void>;
  /** Removes all pictures for which others need the space; absent where no quota exists. */
  evict?: () => Promise<void>;
};

const caller = 'alice';

/** Contract of what forgets moments: no sentence, word, id or picture of them is left. */
export function describeForgetting(name: string, makeStores: () => Promise<ForgettingStores>): void {
  /** Fills stores with two watches. Two parts of a removal that is interrupted have ten captures. */
  async function open(made?: ForgettingStores, count = 12) {
    made ??= await makeStores();
    const { readAll } = made;
    const world = createWorld();
    Object.assign(world.c, made.stores);
    await addCaller({ caller, label: null }, world.c);
    const { traces: lost, watchId } = await fill(made.stores, 'flamingo', count);
    const { traces: kept } = await fill(made.stores, 'pelican', 4);
    const present = async (traces: readonly string[]) => {
      const all = await readAll();
      return traces.filter((trace) => all.includes(trace));
    };
    expect(await present([...lost, ...kept])).toEqual([...lost, ...kept]);
    const expectForgotten = async (rest = kept) => expect(await present([...lost, ...kept])).toEqual(rest);
    return { world, watchId, present, expectForgotten };
  }

  describe(`${name} after moments were forgotten`, () => {
    test('a deletion of a watch leaves nothing of its moments', async () => {
      // More than a store removes concurrently.
      const { world, watchId, expectForgotten } = await open(undefined, 26);
      await deleteStoredWatch(watchId, caller, world.c);
      await expectForgotten();
    });

    test.each([0, 1])('a change to fewer days (%i) leaves nothing of older moments', async (days) => {
      const { world, watchId, expectForgotten } = await open();
      world.advance(2 * 86_400);
      const patch = watchPatchSchema.parse({ memory_days: days });
      const validate = (merged: unknown) => watchRequestSchema.parse(merged);
      await editWatch({ watchId, patch, ifMatch: undefined }, caller, world.c, validate);
      await expectForgotten();
    });

    test.each([
      ['has no time for', async (world: World) => world.advance(20)],
      ['fails at', async () => Promise.reject(new Error('The store is throttled'))],
    ])('a message removes the moments that a deletion %s', async (_, interrupt) => {
      const { world, watchId, expectForgotten } = await open();
      const { remove } = world.c.moments;
      const sent: QueueMessage[] = [];
      let parts = 0;
      const interrupted = {
        ...world.c,
        queue: { send: async (message: QueueMessage) => void sent.push(message) },
        moments: {
          ...world.c.moments,
          remove: async (id: string, before: Date | null) => {
            parts += 1;
            if (parts === 2) await interrupt(world);
            return remove(id, before, 5);
          },
        },
      };
      await deleteStoredWatch(watchId, caller, interrupted);
      await expect(expectForgotten()).rejects.toThrow();
      expect(sent).toHaveLength(1);
      const deps = world.c as unknown as DeliverMessageDeps;
      expect(await deliverMessage(queueMessageSchema.parse(sent[0]), deps)).toEqual({ kind: 'done' });
      await expectForgotten();
    });

    test('an erasure of a caller leaves nothing of its moments', async () => {
      // More than one request to a table deletes.
      const { world, expectForgotten, present } = await open(undefined, 26);
      expect(await eraseCaller(operator, caller, world.c)).toMatchObject({ complete: true });
      await expectForgotten([]);
      expect(await present([caller, Buffer.from(caller).toString('hex')])).toEqual([]);
    });

    test('moments that have expired leave nothing, where the store removes them', async () => {
      const made = await makeStores();
      if (!made.sweep) return;
      const { world, expectForgotten } = await open(made);
      world.advance(3 * 86_400);
      await made.sweep(world.clock.now);
      await expectForgotten();
    });

    test('a picture for which there was no space leaves its sentence', async () => {
      const made = await makeStores();
      if (!made.evict) return;
      const { present } = await open(made);
      await made.evict();
      expect(await present(['picture of a', 'flamingo'])).toEqual(['flamingo']);
    });
  });
}

/**
 * Stores a watch with moments of a bird, each of its own capture. Returns all by which they are found. Those of
 * flamingos expire first.
 */
async function fill(stores: Stores, bird: string, count: number) {
  const config = newWatchConfig({ memory_days: 3, schedule: null, destinations: [] });
  const [watchId, sourceId] = [randomUUID(), randomUUID()];
  const expires = { flamingo: 2, pelican: 30 }[bird] ?? 1;
  const words = Array.from({ length: count }, (_, index) => `${bird}${word(index)}`);
  const moments: Moment[] = words.map((each, index) =>
    newMoment(10 * index, {
      watch_id: watchId,
      caller,
      scene: `A quixotic ${each} at the gate`,
      objects: [bird],
      frame_key: `moments/3/${sourceId}/${index}-a.jpg`,
      expires_at: new Date(Date.UTC(2026, 2, 1 + expires, 12)).toISOString(),
    }),
  );
  const captures = moments.map((moment) => [moment]);
  await remember(stores, captures, { source_id: sourceId, config });
  const picture = `picture of a ${bird}`;
  for (const { frame_key: key } of moments)
    await stores.media.put(String(key), Buffer.from(picture), 'image/jpeg');
  return { watchId, traces: [...toStems(words.join(' ')), picture, `moments/3/${sourceId}`] };
}

/** Returns a word without digits for a number: a stem of its own. */
function word(index: number): string {
  return String(index + 100).replaceAll(/\d/g, (digit) => `${'bdfgklmprt'[Number(digit)]}o`);
}
