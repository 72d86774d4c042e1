import type { JobRuns } from '../support/select-runs.ts';
import { describe, expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { SlotReservation } from '../../core/ports/runs.ts';
import { withLostReplies } from './lost-replies.ts';
import { after, changed, createCreation, end, idempotency, newJob, createSource, start } from './records.ts';

/** Contract of `JobStore`, creation, slots and idempotency. */
export function jobCreationCases(makeStore: () => Promise<JobRuns>): void {
  test('a created job and its source are read unchanged and take a slot', async () => {
    const store = await makeStore();
    const job = newJob();

    expect(await store.create(createCreation(job), start)).toEqual({ kind: 'created' });

    expect(await store.get(job.run_id, start)).toEqual(job);
    expect(await store.source(job.source_id)).toEqual(createSource(job));
    expect(await store.countActive(job.caller)).toBe(1);
    expect(await store.events(job.run_id, 0, 10, new Date(0))).toEqual([]);
  });

  test('the eleventh job of a caller is refused and leaves no record', async () => {
    const store = await makeStore();
    for (let count = 0; count < 10; count += 1) await store.create(createCreation(newJob()), start);
    const eleventh = newJob();

    expect(await store.create(createCreation(eleventh), start)).toEqual({ kind: 'full' });

    expect(await store.get(eleventh.run_id, start)).toBeUndefined();
    expect(await store.source(eleventh.source_id)).toBeUndefined();
    expect(await store.countActive('harbour')).toBe(10);
    expect(await store.create(createCreation(newJob({ caller: 'airport' })), start)).toEqual({
      kind: 'created',
    });
  });

  test('thirty concurrent creations take ten slots, and none fails only because of a conflict', async () => {
    const store = await makeStore();
    const creations = Array.from({ length: 30 }, () => store.create(createCreation(newJob()), start));

    const kinds = (await Promise.all(creations)).map((result) => result.kind);

    expect(kinds.filter((kind) => kind === 'created')).toHaveLength(10);
    expect(kinds.filter((kind) => kind === 'full')).toHaveLength(20);
    expect(await store.countActive('harbour')).toBe(10);
  });

  test('one creation repeated concurrently creates one job', async () => {
    const store = await makeStore();
    const creation = createCreation(newJob(), { slotLimit: 1, idempotency: idempotency('key', 'hash') });

    const results = await Promise.all(Array.from({ length: 8 }, () => store.create(creation, start)));

    expect(results).toEqual(Array.from({ length: 8 }, () => ({ kind: 'created' })));
    expect(await store.countActive('harbour')).toBe(1);
    expect(await store.usage()).toMatchObject({ jobs_created: 1 });
  });

  test('a creation whose reply was lost succeeds when repeated: one job, one slot', async () => {
    const store = withLostReplies(await makeStore());
    const creation = createCreation(newJob(), { slotLimit: 1, idempotency: idempotency('key', 'hash') });

    await expect(store.create(creation, start)).rejects.toThrow(TransientError);
    expect(await store.create(creation, start)).toEqual({ kind: 'created' });

    const listed = () => store.list({ caller: 'harbour', limit: 10, offset: 0 }, start);
    await expect(listed()).rejects.toThrow(TransientError);
    expect(await listed()).toEqual({ jobs: [creation.job], total: 1 });
    await expect(store.countActive('harbour')).rejects.toThrow(TransientError);
    expect(await store.countActive('harbour')).toBe(1);
  });

  test('a creation repeated after its job has ended changes nothing and takes no slot', async () => {
    const store = await makeStore();
    const job = newJob();
    await store.create(createCreation(job), start);
    const ended = changed(job, end(job));
    await store.commit(end(job));

    expect(await store.create(createCreation(job), start)).toEqual({ kind: 'created' });

    expect(await store.get(job.run_id, start)).toEqual(ended);
    expect(await store.countActive(job.caller)).toBe(0);
  });

  test('the same idempotency key and request replay their job, which needs no slot', async () => {
    const store = await makeStore();
    const [first, second] = [newJob(), newJob()];
    const once = { slotLimit: 1, idempotency: idempotency('key', 'hash') };
    await store.create(createCreation(first, once), start);

    const result = await store.create(createCreation(second, once), start);

    expect(result).toEqual({ kind: 'replayed', runId: first.run_id });
    expect(await store.get(second.run_id, start)).toBeUndefined();
    expect(await store.countActive('harbour')).toBe(1);
  });

  test.each([1, 10])(
    'an idempotency key is replayed for a concurrent request, with %i slots',
    async (slotLimit) => {
      const store = await makeStore();
      const creations = [newJob(), newJob()].map((job) =>
        store.create(createCreation(job, { slotLimit, idempotency: idempotency('key', 'hash') }), start),
      );

      const kinds = (await Promise.all(creations)).map((result) => result.kind).toSorted();

      expect(kinds).toEqual(['created', 'replayed']);
      expect(await store.countActive('harbour')).toBe(1);
    },
  );

  test('an idempotency key returns its request and job until it expires, to its caller only', async () => {
    const store = await makeStore();
    const job = newJob();
    await store.create(createCreation(job, { idempotency: idempotency('key', 'hash') }), start);
    const known = { requestHash: 'hash', runId: job.run_id };

    expect(await store.findByIdempotencyKey('harbour', 'key', start)).toEqual(known);
    expect(await store.findByIdempotencyKey('harbour', 'key', after(86_399))).toEqual(known);
    expect(await store.findByIdempotencyKey('harbour', 'key', after(86_400))).toBeUndefined();
    expect(await store.findByIdempotencyKey('airport', 'key', start)).toBeUndefined();
    expect(await store.findByIdempotencyKey('harbour', 'another', start)).toBeUndefined();
  });

  test('an idempotency key with another request is rejected, and belongs to one caller', async () => {
    const store = await makeStore();
    await store.create(createCreation(newJob(), { idempotency: idempotency('key', 'hash') }), start);
    const other = { idempotency: idempotency('key', 'other') };

    expect(await store.create(createCreation(newJob(), other), start)).toEqual({ kind: 'key_reused' });
    expect(await store.countActive('harbour')).toBe(1);
    const airport = createCreation(newJob({ caller: 'airport' }), other);
    expect(await store.create(airport, start)).toEqual({ kind: 'created' });
  });

  test('an idempotency key is free again when its record expires', async () => {
    const store = await makeStore();
    await store.create(createCreation(newJob(), { idempotency: idempotency('key', 'hash') }), start);
    const later = after(86_400);
    const renewed = { ...idempotency('key', 'other'), expiresAt: after(172_800) };
    const job = newJob();

    expect(await store.create(createCreation(job, { idempotency: renewed }), later)).toEqual({
      kind: 'created',
    });
    expect(await store.create(createCreation(newJob(), { idempotency: renewed }), later)).toEqual({
      kind: 'replayed',
      runId: job.run_id,
    });
  });

  test('an idempotency key is still free after a refusal', async () => {
    const store = await makeStore();
    const first = newJob();
    await store.create(createCreation(first, { slotLimit: 1 }), start);
    const creation = createCreation(newJob(), { slotLimit: 1, idempotency: idempotency('key', 'hash') });
    expect(await store.create(creation, start)).toEqual({ kind: 'full' });

    await store.commit(end(first));

    expect(await store.create(creation, start)).toEqual({ kind: 'created' });
  });

  describe('a reserved slot', () => {
    const reserve = (
      store: JobRuns,
      jobId: string,
      { now = start, ...fields }: Partial<SlotReservation> & { now?: Date } = {},
    ) => store.reserveSlot({ caller: 'harbour', jobId, slotLimit: 1, until: after(180), ...fields }, now);
    const full = { kind: 'full' };
    const reserved = (jobId: string) => ({ kind: 'reserved', jobId });

    test('a reserved slot is closed to other jobs of its caller and becomes the slot of its own job', async () => {
      const store = await makeStore();
      const job = newJob();
      expect(await reserve(store, job.run_id)).toEqual(reserved(job.run_id));
      expect(await reserve(store, job.run_id)).toEqual(reserved(job.run_id));

      expect(await reserve(store, newJob().run_id)).toEqual(full);
      expect(await store.create(createCreation(newJob(), { slotLimit: 1 }), start)).toEqual({
        kind: 'full',
      });
      expect(
        await store.create(createCreation(newJob({ caller: 'airport' }), { slotLimit: 1 }), start),
      ).toEqual({
        kind: 'created',
      });

      expect(await store.create(createCreation(job, { slotLimit: 1 }), start)).toEqual({ kind: 'created' });
      expect(await store.countActive('harbour')).toBe(1);
    });

    test('a released reservation frees its slot', async () => {
      const store = await makeStore();
      const [refused, next] = [newJob(), newJob()];
      await reserve(store, refused.run_id);

      await store.releaseSlot('harbour', refused.run_id, refused.run_id);
      await store.releaseSlot('harbour', refused.run_id, refused.run_id);

      expect(await reserve(store, next.run_id)).toEqual(reserved(next.run_id));
      expect(await store.create(createCreation(next, { slotLimit: 1 }), start)).toEqual({ kind: 'created' });
      expect(await store.countActive('harbour')).toBe(1);
    });

    test('a reservation whose job was created is not released any more', async () => {
      const store = await makeStore();
      const job = newJob();
      await reserve(store, job.run_id);
      await store.create(createCreation(job, { slotLimit: 1 }), start);

      await store.releaseSlot('harbour', job.run_id, job.run_id);
      await store.releaseSlot('harbour', newJob().run_id, newJob().run_id);

      expect(await store.countActive('harbour')).toBe(1);
      expect(await reserve(store, newJob().run_id)).toEqual(full);
    });

    test('a reservation of a crashed process expires, and its job can still be created while a slot is free', async () => {
      const store = await makeStore();
      const [crashed, next] = [newJob(), newJob()];
      await reserve(store, crashed.run_id);
      expect(await reserve(store, next.run_id, { now: after(179) })).toEqual(full);

      expect(await reserve(store, next.run_id, { now: after(180), until: after(360) })).toEqual(
        reserved(next.run_id),
      );

      const late = createCreation(crashed, { slotLimit: 1 });
      expect(await store.create(late, after(181))).toEqual({ kind: 'full' });
      await store.releaseSlot('harbour', next.run_id, next.run_id);
      expect(await store.create(late, after(181))).toEqual({ kind: 'created' });
    });

    test('one of many concurrent reservations gets the last slot', async () => {
      const store = await makeStore();
      const asked = Array.from({ length: 12 }, () => reserve(store, newJob().run_id, { slotLimit: 3 }));

      const kinds = (await Promise.all(asked)).map((result) => result.kind);

      expect(kinds.filter((kind) => kind === 'reserved')).toHaveLength(3);
    });

    const keyed = { idempotency: idempotency('key', 'hash') };

    test('a reservation is shared by a request with the same idempotency key, also without another free slot', async () => {
      const store = await makeStore();
      const [first, second] = [newJob(), newJob()];
      expect(await reserve(store, first.run_id, { ...keyed, slotLimit: 2 })).toEqual(reserved(first.run_id));

      expect(await reserve(store, second.run_id, { ...keyed, slotLimit: 2 })).toEqual(reserved(first.run_id));

      expect(await reserve(store, newJob().run_id, { ...keyed })).toEqual(reserved(first.run_id));
      const other = { idempotency: idempotency('other', 'hash') };
      expect(await reserve(store, newJob().run_id, other)).toEqual(full);
      expect(await reserve(store, newJob().run_id)).toEqual(full);
      const airport = await reserve(store, second.run_id, { ...keyed, caller: 'airport' });
      expect(airport).toEqual(reserved(second.run_id));
    });

    test('a reservation rejects another request with its idempotency key', async () => {
      const store = await makeStore();
      await reserve(store, newJob().run_id, keyed);

      const other = { idempotency: idempotency('key', 'other') };

      expect(await reserve(store, newJob().run_id, other)).toEqual({ kind: 'key_reused' });
      expect(await reserve(store, newJob().run_id, { ...other, slotLimit: 2 })).toEqual({
        kind: 'key_reused',
      });
    });

    test('a reservation is one slot for many concurrent requests with one idempotency key', async () => {
      const store = await makeStore();
      const asked = Array.from({ length: 8 }, () => reserve(store, newJob().run_id, keyed));

      const results = await Promise.all(asked);

      expect(results).toEqual(Array.from({ length: 8 }, () => expect.objectContaining({ kind: 'reserved' })));
      expect(new Set(results.map((result) => result.kind === 'reserved' && result.jobId)).size).toBe(1);
    });

    test('a shared reservation becomes the slot of one job, which the other request replays', async () => {
      const store = await makeStore();
      const [first, second] = [newJob(), newJob()];
      await reserve(store, first.run_id, keyed);
      await reserve(store, second.run_id, keyed);
      const slower = { ...second, run_id: first.run_id };
      const only = { slotLimit: 1, ...keyed };

      expect(await store.create(createCreation(slower, only), start)).toEqual({ kind: 'created' });
      expect(await store.create(createCreation(first, only), start)).toEqual({
        kind: 'replayed',
        runId: first.run_id,
      });

      expect(await store.create(createCreation(slower, only), start)).toEqual({ kind: 'created' });
      await store.releaseSlot('harbour', first.run_id, first.run_id);
      expect(await store.get(first.run_id, start)).toEqual(slower);
      expect(await store.countActive('harbour')).toBe(1);
      expect(await reserve(store, newJob().run_id)).toEqual(full);
    });

    test.each([0, 1])(
      'a shared reservation is free after all of its requests released it, number %i first',
      async (early) => {
        const store = await makeStore();
        const [shared, joined] = [newJob().run_id, newJob().run_id];
        await reserve(store, shared, keyed);
        await reserve(store, joined, keyed);
        const holders = [shared, joined];
        const [first = '', last = ''] = early === 0 ? holders : holders.toReversed();

        await store.releaseSlot('harbour', shared, first);
        await store.releaseSlot('harbour', shared, first);
        expect(await reserve(store, newJob().run_id)).toEqual(full);
        await store.releaseSlot('harbour', shared, last);

        const next = newJob().run_id;
        expect(await reserve(store, next, keyed)).toEqual(reserved(next));
      },
    );

    test("a shared reservation lasts until the newest request's time and is not shared afterwards", async () => {
      const store = await makeStore();
      const [shared, next] = [newJob().run_id, newJob().run_id];
      await reserve(store, shared, keyed);
      await reserve(store, newJob().run_id, { ...keyed, now: after(100), until: after(280) });

      expect(await reserve(store, newJob().run_id, { now: after(279) })).toEqual(full);

      const late = { ...keyed, now: after(280), until: after(460) };
      expect(await reserve(store, next, late)).toEqual(reserved(next));
      expect(await reserve(store, newJob().run_id, { now: after(281) })).toEqual(full);
    });
  });
}
