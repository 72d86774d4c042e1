import { describe, expect, it } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { withLostReplies } from './lost-replies.ts';
import {
  after,
  begin,
  changed,
  createCreation,
  end,
  idempotency,
  newJob,
  createSource,
  start,
} from './records.ts';

/** Part of the contract of `JobStore`: creation, slots and idempotency. */
export function jobCreationCases(makeStore: () => Promise<JobStore>): void {
  it('a created job and its source are read as they were given, and take a slot', async () => {
    const store = await makeStore();
    const job = newJob();

    expect(await store.create(createCreation(job), start)).toEqual({ kind: 'created' });

    expect(await store.get(job.job_id, start)).toEqual(job);
    expect(await store.source(job.source_id)).toEqual(createSource(job));
    expect(await store.countActive(job.caller)).toBe(1);
    expect(await store.events(job.job_id, 0, 10)).toEqual([]);
  });

  it('the eleventh job of a caller finds the slots full, and leaves nothing behind', async () => {
    const store = await makeStore();
    for (let count = 0; count < 10; count += 1) await store.create(createCreation(newJob()), start);
    const eleventh = newJob();

    expect(await store.create(createCreation(eleventh), start)).toEqual({ kind: 'slots_full' });

    expect(await store.get(eleventh.job_id, start)).toBeUndefined();
    expect(await store.source(eleventh.source_id)).toBeUndefined();
    expect(await store.countActive('harbour')).toBe(10);
    expect(await store.create(createCreation(newJob({ caller: 'airport' })), start)).toEqual({
      kind: 'created',
    });
  });

  it('thirty creations at once take ten slots, and never is one refused for the collision alone', async () => {
    const store = await makeStore();
    const creations = Array.from({ length: 30 }, () => store.create(createCreation(newJob()), start));

    const kinds = (await Promise.all(creations)).map((result) => result.kind);

    expect(kinds.filter((kind) => kind === 'created')).toHaveLength(10);
    expect(kinds.filter((kind) => kind === 'slots_full')).toHaveLength(20);
    expect(await store.countActive('harbour')).toBe(10);
  });

  it('ten creations at once for ten slots are all accepted', async () => {
    const store = await makeStore();
    const creations = Array.from({ length: 10 }, () => store.create(createCreation(newJob()), start));

    expect(await Promise.all(creations)).toEqual(Array.from({ length: 10 }, () => ({ kind: 'created' })));
  });

  it('one creation many times at once makes one job', async () => {
    const store = await makeStore();
    const creation = createCreation(newJob(), { slotLimit: 1, idempotency: idempotency('key', 'hash') });

    const results = await Promise.all(Array.from({ length: 8 }, () => store.create(creation, start)));

    expect(results).toEqual(Array.from({ length: 8 }, () => ({ kind: 'created' })));
    expect(await store.countActive('harbour')).toBe(1);
    expect(await store.usage()).toMatchObject({ jobs_created: 1 });
  });

  it('a creation whose reply was lost is created when it is repeated: one job, one slot', async () => {
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

  it('a creation repeated after its job has moved on and ended changes nothing and takes no slot', async () => {
    const store = await makeStore();
    const job = newJob();
    await store.create(createCreation(job), start);
    const ended = changed(job, end(job));
    await store.commit(end(job));

    expect(await store.create(createCreation(job), start)).toEqual({ kind: 'created' });

    expect(await store.get(job.job_id, start)).toEqual(ended);
    expect(await store.countActive(job.caller)).toBe(0);
  });

  it('the same idempotency key and request replay the job that they made', async () => {
    const store = await makeStore();
    const first = newJob();
    await store.create(createCreation(first, { idempotency: idempotency('key', 'hash') }), start);
    const second = newJob();

    const result = await store.create(
      createCreation(second, { idempotency: idempotency('key', 'hash') }),
      start,
    );

    expect(result).toEqual({ kind: 'replayed', jobId: first.job_id });
    expect(await store.get(second.job_id, start)).toBeUndefined();
    expect(await store.countActive('harbour')).toBe(1);
  });

  it('an idempotency key is replayed for the concurrent request that finds no slot left', async () => {
    const store = await makeStore();
    const creations = [newJob(), newJob()].map((job) =>
      store.create(createCreation(job, { slotLimit: 1, idempotency: idempotency('key', 'hash') }), start),
    );

    const kinds = (await Promise.all(creations)).map((result) => result.kind).toSorted();

    expect(kinds).toEqual(['created', 'replayed']);
    expect(await store.countActive('harbour')).toBe(1);
  });

  it('an idempotency key tells its request and its job until it expires, to its caller only', async () => {
    const store = await makeStore();
    const job = newJob();
    await store.create(createCreation(job, { idempotency: idempotency('key', 'hash') }), start);
    const known = { requestHash: 'hash', jobId: job.job_id };

    expect(await store.findByIdempotencyKey('harbour', 'key', start)).toEqual(known);
    expect(await store.findByIdempotencyKey('harbour', 'key', after(86_399))).toEqual(known);
    expect(await store.findByIdempotencyKey('harbour', 'key', after(86_400))).toBeUndefined();
    expect(await store.findByIdempotencyKey('airport', 'key', start)).toBeUndefined();
    expect(await store.findByIdempotencyKey('harbour', 'another', start)).toBeUndefined();
  });

  it('an idempotency key with another request is refused', async () => {
    const store = await makeStore();
    await store.create(createCreation(newJob(), { idempotency: idempotency('key', 'hash') }), start);

    const result = await store.create(
      createCreation(newJob(), { idempotency: idempotency('key', 'other') }),
      start,
    );

    expect(result).toEqual({ kind: 'key_reused' });
    expect(await store.countActive('harbour')).toBe(1);
  });

  it('an idempotency key is a caller’s own', async () => {
    const store = await makeStore();
    await store.create(createCreation(newJob(), { idempotency: idempotency('key', 'hash') }), start);
    const job = newJob({ caller: 'airport' });

    const result = await store.create(
      createCreation(job, { idempotency: idempotency('key', 'other') }),
      start,
    );

    expect(result).toEqual({ kind: 'created' });
  });

  it('two creations at once with one idempotency key make one job', async () => {
    const store = await makeStore();
    const creations = [newJob(), newJob()].map((job) =>
      store.create(createCreation(job, { idempotency: idempotency('key', 'hash') }), start),
    );

    const kinds = (await Promise.all(creations)).map((result) => result.kind).toSorted();

    expect(kinds).toEqual(['created', 'replayed']);
    expect(await store.countActive('harbour')).toBe(1);
  });

  it('an idempotency key is forgotten when its record expires', async () => {
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
      jobId: job.job_id,
    });
  });

  it('a replay needs no slot', async () => {
    const store = await makeStore();
    const job = newJob();
    const key = { slotLimit: 1, idempotency: idempotency('key', 'hash') };
    await store.create(createCreation(job, key), start);

    expect(await store.create(createCreation(newJob(), key), start)).toEqual({
      kind: 'replayed',
      jobId: job.job_id,
    });
  });

  it('an idempotency key that found the slots full is not used up', async () => {
    const store = await makeStore();
    const first = newJob();
    await store.create(createCreation(first, { slotLimit: 1 }), start);
    const creation = createCreation(newJob(), { slotLimit: 1, idempotency: idempotency('key', 'hash') });
    expect(await store.create(creation, start)).toEqual({ kind: 'slots_full' });

    await store.commit(end(first));

    expect(await store.create(creation, start)).toEqual({ kind: 'created' });
  });

  it('a job that begins keeps its slot', async () => {
    const store = await makeStore();
    const job = newJob();
    await store.create(createCreation(job), start);

    await store.commit(begin(job));

    expect(await store.countActive(job.caller)).toBe(1);
  });

  describe('a reserved slot', () => {
    const reserve = (
      store: JobStore,
      jobId: string,
      { slotLimit = 1, until = after(180), now = start } = {},
    ) => store.reserveSlot({ caller: 'harbour', jobId, slotLimit, until }, now);

    it('keeps other jobs of its caller out, and becomes the slot of its own job', async () => {
      const store = await makeStore();
      const job = newJob();
      expect(await reserve(store, job.job_id)).toBe('reserved');
      expect(await reserve(store, job.job_id)).toBe('reserved');

      expect(await reserve(store, newJob().job_id)).toBe('slots_full');
      expect(await store.create(createCreation(newJob(), { slotLimit: 1 }), start)).toEqual({
        kind: 'slots_full',
      });
      expect(
        await store.create(createCreation(newJob({ caller: 'airport' }), { slotLimit: 1 }), start),
      ).toEqual({
        kind: 'created',
      });

      expect(await store.create(createCreation(job, { slotLimit: 1 }), start)).toEqual({ kind: 'created' });
      expect(await store.countActive('harbour')).toBe(1);
    });

    it('is free again when it is released', async () => {
      const store = await makeStore();
      const [refused, next] = [newJob(), newJob()];
      await reserve(store, refused.job_id);

      await store.releaseSlot('harbour', refused.job_id);
      await store.releaseSlot('harbour', refused.job_id);

      expect(await reserve(store, next.job_id)).toBe('reserved');
      expect(await store.create(createCreation(next, { slotLimit: 1 }), start)).toEqual({ kind: 'created' });
      expect(await store.countActive('harbour')).toBe(1);
    });

    it('is no longer released once its job is created', async () => {
      const store = await makeStore();
      const job = newJob();
      await reserve(store, job.job_id);
      await store.create(createCreation(job, { slotLimit: 1 }), start);

      await store.releaseSlot('harbour', job.job_id);
      await store.releaseSlot('harbour', newJob().job_id);

      expect(await store.countActive('harbour')).toBe(1);
      expect(await reserve(store, newJob().job_id)).toBe('slots_full');
    });

    it('that a crash left behind expires, and its job can still be created while a slot is free', async () => {
      const store = await makeStore();
      const [crashed, next] = [newJob(), newJob()];
      await reserve(store, crashed.job_id);
      expect(await reserve(store, next.job_id, { now: after(179) })).toBe('slots_full');

      expect(await reserve(store, next.job_id, { now: after(180), until: after(360) })).toBe('reserved');

      const late = createCreation(crashed, { slotLimit: 1 });
      expect(await store.create(late, after(181))).toEqual({ kind: 'slots_full' });
      await store.releaseSlot('harbour', next.job_id);
      expect(await store.create(late, after(181))).toEqual({ kind: 'created' });
    });

    it('is the slot of one of many reservations at once', async () => {
      const store = await makeStore();
      const asked = Array.from({ length: 12 }, () => reserve(store, newJob().job_id, { slotLimit: 3 }));

      const kinds = await Promise.all(asked);

      expect(kinds.filter((kind) => kind === 'reserved')).toHaveLength(3);
    });
  });
}
