import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { addCaller, eraseCaller } from '../../core/access/callers.ts';
import { operator, createKey } from '../../core/access/keys.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { createMonitor } from '../support/create-jobs.ts';
import type { DeliveryStore } from '../../core/ports/delivery.ts';
import type { KeyStore } from '../../core/ports/callers.ts';
import { createWorld, monitorRequest } from '../support/world.ts';
import { after, newJob } from './records.ts';
import { newAlert, newChange, newCreation } from './watch-records.ts';

type Stores = Pick<CoreDeps, 'jobs' | 'watches' | 'callers' | 'eraser' | 'deliveries' | 'usage' | 'media'> & {
  keys: KeyStore;
  deliveries: DeliveryStore;
};

/** Contract of `CallerEraser`. `readAll` returns everything that the stores keep, with the bytes on disk. */
export function describeCallerEraser(
  name: string,
  makeStores: () => Promise<{ stores: Stores; readAll: () => Promise<string> }>,
): void {
  async function open() {
    const { stores, readAll } = await makeStores();
    return { stores, contains: async (text: string) => (await readAll()).includes(text) };
  }

  describe(`${name} as an eraser of callers`, () => {
    test('an erased caller leaves no trace of its name, streams, conditions, alerts, media and keys', async () => {
      const { stores, contains } = await open();
      const world = createWorld();
      Object.assign(world.c, stores);
      const canary = `canary${randomUUID().slice(0, 8)}`;
      const other = `other${randomUUID().slice(0, 8)}`;
      const keys = [await fill(world, canary), await fill(world, other)];
      for (const text of [canary, other, ...keys]) expect(await contains(text)).toBe(true);
      // A clip is ready in the middle of the erasure.
      const { removeWork } = stores.eraser;
      world.c.eraser = {
        ...stores.eraser,
        removeWork: async (caller, work) => {
          await stores.media.put(`clips/7/${work.sourceId}/late.mp4`, Buffer.from(canary), 'video/mp4');
          await removeWork(caller, work);
        },
      };

      const erasure = await eraseCaller(operator, canary, world.c);

      expect(erasure).toMatchObject({ complete: true, keys: 2, jobs: 2, watches: 2 });
      expect(erasure.media).toBeGreaterThan(0);
      expect(await contains(canary)).toBe(false);
      // Two checks that were under way end.
      for (const failed of [false, true])
        await stores.usage.record(canary, [{ input_tokens: 1, output_tokens: 1, failed }]);
      expect(await stores.usage.days(canary, '2026-01-01', '2026-12-31')).toEqual([]);
      expect(await contains(canary)).toBe(false);
      expect(await contains(keys[0]!)).toBe(false);
      expect(await contains(other)).toBe(true);
      expect(await contains(keys[1]!)).toBe(true);
      expect(world.executions.get(`${running.get(canary)}-0`)).toBe('aborted');
      expect((await stores.jobs.list({ caller: other, limit: 10, offset: 0 }, world.clock.now)).total).toBe(
        2,
      );
      expect(await stores.watches.list(other)).toHaveLength(1);
      await expect(eraseCaller(operator, canary, world.c)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    test('an erasure ends although what became ready meanwhile cannot be removed', async () => {
      const { stores } = await open();
      const world = createWorld();
      Object.assign(world.c, stores);
      await fill(world, 'canary');
      let isGone = false;
      const { removeWork } = stores.eraser;
      world.c.eraser = {
        ...stores.eraser,
        removeWork: async (caller, work) => removeWork(caller, work).then(() => void (isGone = true)),
      };
      const removeOfSource = async (id: string, enough?: number) => {
        if (isGone) {
          isGone = false;
          throw new Error('The storage is away');
        }
        return stores.media.removeOfSource(id, enough);
      };
      world.c.media = { ...stores.media, removeOfSource };

      expect(await eraseCaller(operator, 'canary', world.c)).toMatchObject({ complete: true, watches: 2 });

      expect(world.logged).toContain('Media of an erased caller may be left');
    });

    test('an erasure whose time is not enough continues where it ended', async () => {
      const { stores, contains } = await open();
      const world = createWorld();
      Object.assign(world.c, stores);
      const canary = `canary${randomUUID().slice(0, 8)}`;
      await fill(world, canary);
      const slow = { ...world.c.media, removeOfSource: async () => (world.advance(16), 0) };

      const first = await eraseCaller(operator, canary, { ...world.c, media: slow });
      expect(first).toMatchObject({ complete: false, keys: 2, jobs: 1, watches: 0 });
      const second = await eraseCaller(operator, canary, world.c);

      expect(second).toMatchObject({ complete: true, keys: 0, jobs: 1, watches: 2 });
      expect(await contains(canary)).toBe(false);
    });

    test('an erasure of a watch with more pictures than its time allows continues with the others', async () => {
      const { stores, contains } = await open();
      const world = createWorld();
      Object.assign(world.c, stores);
      const canary = `canary${randomUUID().slice(0, 8)}`;
      await fill(world, canary);
      const many = { ...world.c.media, removeOfSource: async () => (world.advance(6), 5000) };

      const first = await eraseCaller(operator, canary, { ...world.c, media: many });
      expect(first).toMatchObject({ complete: false, jobs: 0, watches: 0, media: 15_000 });
      expect(await eraseCaller(operator, canary, world.c)).toMatchObject({
        complete: true,
        jobs: 2,
        watches: 2,
      });
      expect(await contains(canary)).toBe(false);
    });

    test('a creation commits only with a valid key of its caller, so that none survives an erasure', async () => {
      const { stores } = await open();
      const world = createWorld();
      Object.assign(world.c, stores);
      const caller = `caller${randomUUID().slice(0, 8)}`;
      const other = `other${randomUUID().slice(0, 8)}`;
      const makeKey = async (ofCaller: string) => {
        await addCaller({ caller: ofCaller, label: null }, world.c);
        return createKey(operator, { caller: ofCaller, scopes: ['jobs'], label: null }, world.c);
      };
      const valid = await makeKey(caller);
      const ending = await makeKey(caller);
      const revoked = await makeKey(caller);
      await stores.keys.revoke(ending.key.hash, after(60));
      await stores.keys.revoke(revoked.key.hash, after(0));
      const create = async (keyHash: string) => {
        const job = newJob({ caller, run_id: randomUUID(), source_id: randomUUID() });
        const source = { source_id: job.source_id, caller, url: job.stream_url, ...job.config };
        const jobs = await stores.jobs.create({ job, source, slotLimit: 10, keyHash }, after(1));
        const watches = await stores.watches.create({ ...newCreation({ caller }), keyHash }, after(1));
        return [jobs.kind, watches.kind];
      };

      for (const { key } of [valid, ending]) expect(await create(key.hash)).toEqual(['created', 'created']);
      for (const { key } of [revoked, await makeKey(other)])
        expect(await create(key.hash)).toEqual(['key_invalid', 'key_invalid']);
      await eraseCaller(operator, caller, world.c);
      expect(await create(valid.key.hash)).toEqual(['key_invalid', 'key_invalid']);
      expect(await stores.watches.list(caller)).toEqual([]);
    });

    test('keys that an erased caller created for another one belong to its own creator', async () => {
      const { stores, contains } = await open();
      const world = createWorld();
      Object.assign(world.c, stores);
      const scopes = ['keys', 'admin'] as const;
      const create = async (name: string, maker: typeof operator) => {
        const caller = `${name}${randomUUID().slice(0, 8)}`;
        await addCaller({ caller, label: null }, world.c);
        const { key } = await createKey(maker, { caller, scopes: [...scopes], label: null }, world.c);
        return { hash: key.hash, caller, revoked_at: null, scopes: [...scopes] };
      };
      const first = await create('first', operator);
      const erased = await create('erased', first);
      const second = await createKey(erased, { scopes: [...scopes], label: null }, world.c);
      const made = await create('made', { ...erased, hash: second.key.hash });
      await eraseCaller(operator, erased.caller, world.c);

      expect((await stores.keys.find(made.hash))?.created_by).toBe(first.hash);
      expect((await stores.keys.listMadeBy(first.hash)).map(({ hash }) => hash)).toEqual([made.hash]);
      for (const { hash } of [erased, second.key]) expect(await contains(hash)).toBe(false);
    });
  });
}

const running = new Map<string, string>();

/**
 * Creates two jobs, a watch, a deleted watch and two keys whose texts contain the caller's name. Returns the hash of a
 * key.
 */
async function fill(world: ReturnType<typeof createWorld>, caller: string): Promise<string> {
  const { c } = world;
  await addCaller({ caller, label: `label of ${caller}` }, c);
  const { key } = await createKey(operator, { caller, scopes: ['jobs', 'keys'], label: caller }, c);
  const made = { hash: key.hash, caller, revoked_at: null, scopes: key.scopes };
  await createKey(made, { scopes: ['jobs'], label: `made by ${caller}` }, c);
  for (const ends of [true, false]) {
    const request = monitorRequest({
      stream_url: `https://cameras.example/${caller}.m3u8`,
      condition: `a ship of ${caller}`,
      webhook_url: `https://${caller}.example/hook`,
      labels: [caller],
      max_triggers: ends ? 1 : null,
    });
    const { run_id } = await createMonitor(request, caller, c);
    world.script.verdicts.push(true);
    await world.tick(await world.begin({ run_id, generation: 0 }));
    if (!ends) running.set(caller, run_id);
  }
  for (const deleted of [false, true]) {
    const creation = newCreation({ caller });
    creation.config.name = `watch of ${caller}`;
    creation.source.url = `rtsp://${caller}:secret@camera.example/1`;
    await c.watches.create(creation, world.clock.now);
    const alert = newAlert(creation);
    await c.watches.commit(
      newChange(creation, {
        alerts: [{ kind: 'open', alert }] as never,
        hours: [{ hour: '2026-03-01T12:00:00.000Z', counts: { ticks: 1 } }],
        set: deleted ? { deleted_at: after(60).toISOString() } : {},
      }),
    );
    await c.media.put(`evidence/7/${creation.source_id}/1-a.jpg`, Buffer.from(caller), 'image/jpeg');
  }
  return key.hash;
}
