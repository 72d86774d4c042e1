import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { RunChange, RunStore } from '../../core/ports/runs.ts';
import type { Run } from '../../core/records/run.ts';
import { withLostReplies } from './lost-replies.ts';
import { after, begin, changed, createCreation, newDigest, newJob, start } from './records.ts';
import { kinds, type Kind, type Stores } from './run-kinds.ts';
import { newChange, newCreation, toStored } from './watch-records.ts';

/** Contract of `RunStore`. `makeStores` returns empty stores. */
export function describeRunStore(name: string, makeStores: () => Promise<Stores>): void {
  describe(`${name} as a store of runs`, () => {
    describe.each(kinds)('of the policy $policy', (kind) => {
      /** Stores a run whose log has one event, without destinations. */
      const withRun = async (fields: Parameters<Kind['add']>[1] = {}) => {
        const stores = await makeStores();
        return { ...stores, stores, run: await kind.add(stores, fields) };
      };
      describe('committing', () => commitCases(kind, withRun));
      describe('reading the log', () => logCases(kind, withRun));
      describe('finding what to repair', () => repairCases(kind, withRun));
    });
    describe('of several policies', () => mixedCases(makeStores));
  });
}

type WithRun = (fields?: Parameters<Kind['add']>[1]) => Promise<Stores & { stores: Stores; run: Run }>;

/** Returns all events after a sequence. */
const logAfter = (runs: RunStore, run: Run, sequence: number) =>
  runs.events(run.run_id, sequence, 100, start);

function commitCases(kind: Kind, withRun: WithRun): void {
  test('a change updates the run, adds its events and keeps what it does not set', async () => {
    const { runs, run } = await withRun();
    await runs.markPublished(run.run_id, 1);
    const change = kind.append(run, ['progress', 'told'], { last_tick: 1 });

    expect(await runs.commit(change)).toBe('committed');

    expect(await runs.get(run.run_id, start)).toEqual({ ...changed(run, change), published: 1 });
    expect(await logAfter(runs, run, 1)).toEqual(change.events);
  });

  test.each<[string, (run: Run) => Partial<RunChange>]>([
    ['on an older version', ({ version }) => ({ expectedVersion: version - 1 })],
    ['on a newer version', ({ version }) => ({ expectedVersion: version + 1 })],
    ['of a run that is not there', () => ({ runId: randomUUID() })],
  ])('a change %s is outdated and changes nothing', async (_, wrong) => {
    const { stores, runs, run } = await withRun();
    const before = await kind.effects(stores, run);
    const change = { ...kind.end(run), ...wrong(run) };

    expect(await runs.commit(change)).toBe('outdated');

    expect(await runs.get(run.run_id, start)).toEqual(run);
    expect(await runs.get(change.runId, start)).toEqual(change.runId === run.run_id ? run : undefined);
    expect(await runs.events(change.runId, run.sequence, 10, start)).toEqual([]);
    expect(await kind.effects(stores, run)).toEqual(before);
  });

  test('a change whose reply was lost took effect once and is outdated when repeated', async () => {
    const { stores, runs, run } = await withRun();
    const losing = withLostReplies(runs);
    const change = kind.end(run);

    await expect(losing.commit(change)).rejects.toThrow(TransientError);
    expect(await losing.commit(change)).toBe('outdated');

    expect(await runs.getIncludingEnded(run.run_id)).toEqual(changed(run, change));
    expect(await logAfter(runs, run, 1)).toEqual(change.events);
    expect(await kind.effects(stores, run)).toEqual(kind.effectsOfEnd);
  });

  test('one of two concurrent changes of the same state wins, and the other changes nothing', async () => {
    const { stores, runs, run } = await withRun();
    const before = await kind.effects(stores, run);
    const changes = [kind.append(run, ['progress'], { last_tick: 1 }), kind.end(run)];

    const results = await Promise.all(changes.map((change) => runs.commit(change)));

    expect(results.toSorted()).toEqual(['committed', 'outdated']);
    const [winner] = changes.filter((_, index) => results[index] === 'committed');
    expect(await runs.getIncludingEnded(run.run_id)).toEqual(changed(run, winner!));
    expect(await logAfter(runs, run, 1)).toEqual(winner!.events);
    const ended = winner === changes[1];
    expect(await kind.effects(stores, run)).toEqual(ended ? kind.effectsOfEnd : before);
  });

  test('eight concurrent ends end a run once', async () => {
    const { stores, runs, run } = await withRun();
    const results = await Promise.all(Array.from({ length: 8 }, () => runs.commit(kind.end(run))));
    expect(results.filter((result) => result === 'committed')).toHaveLength(1);
    expect(await logAfter(runs, run, 1)).toHaveLength(1);
    expect(await kind.effects(stores, run)).toEqual(kind.effectsOfEnd);
  });

  test('one of several concurrent changes without events wins', async () => {
    const { runs, run } = await withRun();
    const sets = [{ generation: 1 }, { last_tick: 7 }, { lease_until: after(900).toISOString() }];
    const changes = sets.map((set) => kind.append(run, [], set));

    const results = await Promise.all(changes.map((change) => runs.commit(change)));

    const committed = changes.filter((_, index) => results[index] === 'committed');
    expect(committed).toHaveLength(1);
    expect(await runs.get(run.run_id, start)).toEqual(changed(run, committed[0]!));
  });

  test('late, misordered or repeated changes are outdated, and the log has each event once', async () => {
    const { stores, runs, run } = await withRun();
    const first = kind.append(run, ['progress'], { last_tick: 1 });
    const second = kind.append(changed(run, first), ['told'], { last_tick: 2 });
    const last = kind.end(changed(changed(run, first), second));

    const results = [];
    for (const change of [second, last, first, first, last, second, first, second, last, last, first])
      results.push(await runs.commit(change));

    const committed = results.flatMap((result, index) => (result === 'committed' ? [index] : []));
    expect(committed).toEqual([2, 5, 8]);
    expect(await logAfter(runs, run, 1)).toEqual([...first.events, ...second.events, ...last.events]);
    expect(await kind.effects(stores, run)).toEqual(kind.effectsOfEnd);
  });

  test('a field can be set to null', async () => {
    const { runs, run } = await withRun();
    const flags = { done: false, judged: true, closing: false, confirming: false, resolve_again: false };
    const first = kind.append(run, [], { next: { ...flags, wait_until: start.toISOString() } });
    await runs.commit(first);
    expect((await runs.get(run.run_id, start))?.next).toMatchObject(flags);
    await runs.commit(kind.append(changed(run, first), [], { next: null }));
    expect((await runs.get(run.run_id, start))?.next).toBeNull();
  });

  test('the capture state of a hand-over is read as committed until a change removes it', async () => {
    const { runs, run } = await withRun();
    const seen = {
      position: { segment: '100:0123456789ab', segment_seconds: 2 },
      since: start.toISOString(),
      identical_since: null,
      seen_at: after(4).toISOString(),
    };
    const last = kind.append(run, ['progress'], {
      generation: 1,
      seen,
      handed_over: `3.${'r'.repeat(12_000)}`,
    });
    await runs.commit(last);
    expect(await runs.get(run.run_id, start)).toEqual(changed(run, last));
    await runs.commit(kind.append(changed(run, last), [], { handed_over: null }));
    expect((await runs.get(run.run_id, start))?.handed_over).toBeNull();
  });
}

function logCases(kind: Kind, withRun: WithRun): void {
  test('events are returned in order, page by page, also above a page of the database', async () => {
    const { runs, run } = await withRun();
    const change = kind.append(
      run,
      Array.from({ length: 11 }, () => 'progress'),
    );
    await runs.commit(change);
    const sequences = async (from: number, limit: number) =>
      (await runs.events(run.run_id, from, limit, start)).map(({ sequence }) => sequence);

    expect(await sequences(0, 3)).toEqual([1, 2, 3]);
    expect(await sequences(3, 3)).toEqual([4, 5, 6]);
    expect(await sequences(10, 3)).toEqual([11, 12]);
    expect(await sequences(12, 3)).toEqual([]);
    expect(await sequences(0, 100)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
    expect(await runs.event(run.run_id, 5)).toEqual(change.events[3]);
    expect(await runs.event(run.run_id, 13)).toBeUndefined();
  });

  test('an event belongs to one run only', async () => {
    const { stores, runs, run } = await withRun();
    const other = await kind.add(stores, {});
    await runs.commit(kind.append(other, ['progress', 'progress']));
    expect(await logAfter(runs, run, 0)).toHaveLength(1);
    expect(await logAfter(runs, other, 0)).toHaveLength(3);
  });

  test('reads of an unknown run return nothing', async () => {
    const { runs } = await withRun();
    const id = randomUUID();
    expect(await runs.get(id, start)).toBeUndefined();
    expect(await runs.getIncludingEnded(id)).toBeUndefined();
    expect(await runs.source(id)).toBeUndefined();
    expect(await runs.secrets(id)).toBeUndefined();
    expect(await runs.events(id, 0, 10, start)).toEqual([]);
    expect(await runs.event(id, 1)).toBeUndefined();
  });

  test('the published sequence never decreases and leaves the version alone', async () => {
    const { runs, run } = await withRun();
    const id = run.run_id;
    await runs.markPublished(id, 3);
    await runs.markPublished(id, 2);
    expect(await runs.get(id, start)).toEqual({ ...run, published: 3 });
    await Promise.all([5, 4, 6].map((sequence) => runs.markPublished(id, sequence)));
    expect(await runs.get(id, start)).toEqual({ ...run, published: 6 });
  });

  test('a repeated mark and a mark for a removed run have no effect', async () => {
    const { runs, run } = await withRun();
    const losing = withLostReplies(runs);
    const removed = randomUUID();

    await expect(losing.markPublished(run.run_id, 1)).rejects.toThrow(TransientError);
    await losing.markPublished(run.run_id, 1);
    await losing.markPublished(removed, 1);

    expect((await runs.get(run.run_id, start))?.published).toBe(1);
    expect(await runs.getIncludingEnded(removed)).toBeUndefined();
  });
}

function repairCases(kind: Kind, withRun: WithRun): void {
  test('a run is due when its lease has expired, unless it was extended', async () => {
    const { stores, runs, run: first } = await withRun();
    const second = await kind.add(stores, { leaseUntil: after(30) });
    const ids = [first.run_id, second.run_id];

    expect(await runs.dueForRepair(after(29), 10)).toEqual([]);
    expect(await runs.dueForRepair(after(31), 10)).toEqual([second.run_id]);
    expect((await runs.dueForRepair(after(61), 10)).toSorted()).toEqual(ids.toSorted());

    await runs.commit(kind.append(first, ['progress'], { lease_until: after(600).toISOString() }));
    expect(await runs.dueForRepair(after(61), 10)).toEqual([second.run_id]);
  });

  test('a run is due while an event that its destinations receive is unpublished', async () => {
    const { runs, run } = await withRun({ hasReceivers: true });
    expect(await runs.dueForRepair(start, 10)).toEqual([run.run_id]);
    // With an expired lease it is due for two reasons, and listed once.
    expect(await runs.dueForRepair(after(61), 10)).toEqual([run.run_id]);
    await runs.markPublished(run.run_id, 1);
    expect(await runs.dueForRepair(start, 10)).toEqual([]);
    // Nobody receives progress.
    const tick = kind.append(run, ['progress']);
    await runs.commit(tick);
    expect(await runs.dueForRepair(start, 10)).toEqual([]);
    await runs.commit(kind.append(changed(run, tick), ['told', 'progress']));
    expect(await runs.dueForRepair(start, 10)).toEqual([run.run_id]);
    await runs.markPublished(run.run_id, 3);
    expect(await runs.dueForRepair(start, 10)).toEqual([]);
  });

  test('a run without destinations has nothing to publish', async () => {
    const { runs, run } = await withRun();
    await runs.commit(kind.append(run, ['told']));
    expect(await runs.dueForRepair(start, 10)).toEqual([]);
  });

  test('a run that has ended is due while its last event is unpublished, regardless of its lease', async () => {
    const { runs, run } = await withRun({ hasReceivers: true });
    await runs.markPublished(run.run_id, 1);
    await runs.commit(kind.end(run));
    expect(await runs.dueForRepair(after(1_000), 10)).toEqual([run.run_id]);
    await runs.markPublished(run.run_id, 2);
    expect(await runs.dueForRepair(after(1_000), 10)).toEqual([]);
  });

  test('a list has at most the requested number of runs, those with an expired lease first', async () => {
    const { stores, runs } = await withRun({ hasReceivers: true });
    const unpublished = { hasReceivers: true, leaseUntil: after(600) };
    for (let count = 0; count < 2; count += 1) await kind.add(stores, unpublished);
    const lost: Run[] = [];
    for (let count = 0; count < 3; count += 1) lost.push(await kind.add(stores, { leaseUntil: after(30) }));

    expect((await runs.dueForRepair(after(61), 3)).toSorted()).toEqual(
      lost.map(({ run_id }) => run_id).toSorted(),
    );
  });
}

function mixedCases(makeStores: () => Promise<Stores>): void {
  async function withJobsAndWatch() {
    const { runs, jobs, watches } = await makeStores();
    const job = newJob();
    await jobs.create(createCreation(job), start);
    await runs.commit(begin(job));
    const pending = newDigest({ caller: job.caller });
    await jobs.create(createCreation(pending), start);
    const watch = newCreation({ caller: job.caller });
    await watches.create(watch, start);
    return { runs, jobs, watches, job, pending, watch };
  }

  test('a store of runs has jobs and watches, which are due together and listed apart', async () => {
    const { runs, jobs, watches, job, pending, watch } = await withJobsAndWatch();
    const ids = [job.run_id, pending.run_id, watch.run_id];

    expect(await runs.get(job.run_id, start)).toEqual(changed(job, begin(job)));
    expect(await runs.get(pending.run_id, start)).toEqual(pending);
    expect(await runs.get(watch.run_id, start)).toEqual(toStored(watch));
    expect((await runs.dueForRepair(after(86_400), 10)).toSorted()).toEqual(ids.toSorted());
    const listed = await jobs.list({ caller: job.caller, limit: 10, offset: 0 }, start);
    expect(listed.jobs.map(({ run_id }) => run_id).toSorted()).toEqual(
      [job.run_id, pending.run_id].toSorted(),
    );
    expect((await watches.list(job.caller)).map(({ run_id }) => run_id)).toEqual([watch.run_id]);
  });

  test('a purge removes a deleted watch, and neither a job nor a watch that exists', async () => {
    const { runs, job, watch } = await withJobsAndWatch();
    for (const id of [job.run_id, watch.run_id]) await runs.purge(id);
    expect(await runs.get(job.run_id, start)).toBeDefined();
    const stored = await runs.get(watch.run_id, start);
    expect(stored).toBeDefined();

    await runs.commit(
      newChange({ ...watch, ...toStored(watch) }, { set: { deleted_at: start.toISOString() } }),
    );
    await runs.purge(watch.run_id);

    expect(await runs.getIncludingEnded(watch.run_id)).toBeUndefined();
    expect(await runs.events(watch.run_id, 0, 10, start)).toEqual([]);
  });
}
