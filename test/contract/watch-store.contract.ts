import { watchSchema } from '../../core/records/watch.ts';
import { readHour } from '../../core/sight/spans.ts';
import { describe, expect, test } from 'vitest';
import { newWatchConfig } from '../support/watches/watch-records.ts';
import { after, start } from './records.ts';
import { alertCases } from './watch-alerts.contract.ts';
import { feedCases } from './watch-feed.contract.ts';
import {
  logged,
  newAlert,
  newChange,
  newCreation,
  opened,
  progress,
  review,
  withLargestState,
  withWatch,
  toStored,
} from './watch-records.ts';
import type { MakeStore } from './watch-records.ts';

/** Contract of `WatchStore`: what watches have beside their runs. `makeStore` returns an empty store. */
export function describeWatchStore(name: string, makeStore: MakeStore): void {
  describe(`${name} as a watch store`, () => {
    describe('creating', () => creationCases(makeStore));
    describe('committing', () => commitCases(makeStore));
    describe('alerts and reviews', () => alertCases(makeStore));
    describe('finding what to repair', () => repairCases(makeStore));
    describe('reading all logs of a caller', () => feedCases(makeStore));
  });
}

function creationCases(makeStore: MakeStore): void {
  test('a created watch is read as it was stored, with its secrets and first events', async () => {
    const [store, creation] = [await makeStore(), newCreation()];
    expect(await store.create(creation, start)).toEqual({ kind: 'created' });
    expect(await store.get(creation.run_id, start)).toEqual(toStored(creation));
    expect(await store.secrets(creation.run_id)).toEqual(creation.secrets);
    expect(await store.events(creation.run_id, 0, 10, start)).toEqual(creation.events);
    expect(await store.event(creation.run_id, 1)).toEqual(creation.events[0]);
  });

  test('a repeated creation takes no second place', async () => {
    const store = await makeStore();
    const creation = { ...newCreation(), maxWatches: 1 };
    await store.create(creation, start);
    expect(await store.create(creation, start)).toEqual({ kind: 'created' });
    expect(await store.list('alice')).toHaveLength(1);
  });

  test('a caller has at most the given number of watches, and a deleted one makes room', async () => {
    const store = await makeStore();
    const first = newCreation();
    for (const creation of [first, newCreation()])
      expect(await store.create({ ...creation, maxWatches: 2 }, start)).toEqual({ kind: 'created' });
    expect(await store.create({ ...newCreation(), maxWatches: 2 }, start)).toEqual({ kind: 'full' });
    expect(await store.create({ ...newCreation({ caller: 'bob' }), maxWatches: 2 }, start)).toEqual({
      kind: 'created',
    });

    await store.commit(newChange(first, { set: { deleted_at: after(5).toISOString() } }));

    expect(await store.create({ ...newCreation(), maxWatches: 2 }, start)).toEqual({ kind: 'created' });
  });

  test('concurrent creations do not exceed the limit', async () => {
    const store = await makeStore();
    const creations = Array.from({ length: 6 }, () => ({ ...newCreation(), maxWatches: 3 }));
    const results = await Promise.all(creations.map((creation) => store.create(creation, start)));
    expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(3);
    expect(await store.list('alice')).toHaveLength(3);
  });

  test('an idempotency key returns the watch of the first request, and rejects another request', async () => {
    const store = await makeStore();
    const idempotency = { key: 'k1', requestHash: 'a', expiresAt: after(86_400) };
    const first = { ...newCreation(), idempotency };
    await store.create(first, start);
    expect(await store.create({ ...newCreation(), idempotency }, start)).toEqual({
      kind: 'replayed',
      runId: first.run_id,
    });
    const other = { ...idempotency, requestHash: 'b' };
    expect(await store.create({ ...newCreation(), idempotency: other }, start)).toEqual({
      kind: 'key_reused',
    });
    expect(await store.list('alice')).toHaveLength(1);
  });

  test('the list has the watches of one caller, oldest first', async () => {
    const store = await makeStore();
    const [second, first] = [
      newCreation({ created_at: after(10).toISOString() }),
      newCreation({ created_at: after(5).toISOString() }),
    ];
    for (const creation of [second, first, newCreation({ caller: 'bob' })])
      await store.create(creation, start);
    const ids = (await store.list('alice')).map(({ run_id: id }) => id);
    expect(ids).toEqual([first.run_id, second.run_id]);
  });
}

function commitCases(makeStore: MakeStore): void {
  test('a change updates run and configuration, adds its events and increments the version', async () => {
    const { store, creation } = await withWatch(makeStore);
    const watch = {
      ...watchSchema.parse(creation),
      config_version: 2,
      config: newWatchConfig({ name: 'North gate' }),
    };
    const events = logged(creation, [progress, opened(newAlert(creation))], 1);
    const set = { generation: 1, status: 'paused', sequence: 3 } as const;
    const secrets = { watch_id: watch.run_id, destinations: [] };

    expect(await store.commit(newChange(creation, { set, meta: watch, secrets, events }))).toBe('committed');

    const stored = { ...toStored(creation), ...watch, ...set, version: creation.version + 1 };
    expect(await store.get(watch.run_id, start)).toEqual(stored);
    expect(await store.secrets(watch.run_id)).toEqual(secrets);
    expect(await store.events(watch.run_id, 1, 10, start)).toEqual(events);
  });

  test('progress leaves the log after a day and other events after the retention of the watch', async () => {
    const { store, creation } = await withWatch(makeStore, { retention_days: 2 });
    const events = logged(creation, [progress, opened(newAlert(creation))], 1);
    await store.commit(newChange(creation, { set: { sequence: 3 }, events }));
    const typesAt = async (now: Date) =>
      (await store.events(creation.run_id, 1, 10, now)).map(({ type }) => type);

    expect(await typesAt(after(86_399))).toEqual(['progress', 'alert_opened']);
    expect(await typesAt(after(86_401))).toEqual(['alert_opened']);
    expect(await typesAt(after(2 * 86_400 + 1))).toEqual([]);
  });

  test('the spans of an hour are extended by each commit', async () => {
    const { store, creation } = await withWatch(makeStore);
    const hour = start.toISOString();
    const commits = [0, 10].map((from) => ({
      hour,
      counts: { watched_ms: 10_000 },
      seen: {
        spans: [{ from: after(from), to: after(from + 10), class: 'quiet' as const, reason: null }],
        unjudged: { person: 10 },
      },
    }));
    for (const [index, addition] of commits.entries()) {
      const expectedVersion = creation.version + index;
      const change = newChange(creation, { hours: [addition, { hour, counts: { ticks: 1 } }] });
      await store.commit({ ...change, expectedVersion });
    }
    const [stored] = await store.hours(creation.run_id, start, after(3600));
    expect(readHour(start, stored?.seen)).toEqual([
      { from: start, to: after(20), class: 'quiet', reason: null },
    ]);
    expect(stored?.seen?.unjudged).toEqual({ person: 20 });
    expect(stored?.counts).toMatchObject({ ticks: 2, watched_ms: 20_000 });
  });

  test('statistics of an hour are summed, also of one commit, and hours are apart', async () => {
    const { store, creation } = await withWatch(makeStore);
    const id = creation.run_id;
    const counts = { ticks: 1, input_tokens: 100, watched_ms: 10_000, skipped: 0 };
    const commits = [[after(0)], [after(0), after(3600)]];
    for (const [index, starts] of commits.entries()) {
      const hours = starts.flatMap((at) => [
        { hour: at.toISOString(), counts },
        { hour: at.toISOString(), counts: { gap_ms: 2000, watched_ms: 500 } },
      ]);
      const expectedVersion = creation.version + index;
      await store.commit({ ...newChange(creation, { hours }), expectedVersion });
    }
    const hours = await store.hours(id, start, after(7200));
    expect(hours.map(({ hour }) => hour)).toEqual([start.toISOString(), after(3600).toISOString()]);
    expect(hours[0]?.counts).toMatchObject({
      ticks: 2,
      input_tokens: 200,
      watched_ms: 21_000,
      gap_ms: 4000,
      skipped: 0,
    });
    expect(await store.hours(id, after(3600), after(7200))).toHaveLength(1);
  });

  test('a deleted watch is read by deliveries only, and a purge removes everything', async () => {
    const { store, creation } = await withWatch(makeStore);
    const id = creation.run_id;
    const alert = newAlert(creation);
    const change = newChange(creation, {
      set: { deleted_at: after(5).toISOString(), sequence: 2 },
      events: logged(creation, [progress], 1),
      alerts: [{ kind: 'open', alert }],
      hours: [{ hour: start.toISOString(), counts: { ticks: 1 } }],
    });
    await store.commit(change);
    await store.review(alert.alert_id, review(true), start);

    expect(await store.get(id, start)).toBeUndefined();
    expect(await store.list('alice')).toEqual([]);
    expect((await store.getIncludingEnded(id))?.deleted_at).toBe(after(5).toISOString());
    expect(await store.secrets(id)).toEqual(creation.secrets);

    await store.purge(id);

    expect(await store.getIncludingEnded(id)).toBeUndefined();
    expect(await store.secrets(id)).toBeUndefined();
    expect(await store.events(id, 0, 10, start)).toEqual([]);
    expect(await store.alert(alert.alert_id, start)).toBeUndefined();
    expect(await store.alerts({ caller: 'alice', limit: 10 }, start)).toEqual([]);
    expect(await store.hours(id, start, after(3600))).toEqual([]);
    expect(await store.reviewedHours(id, after(-14 * 86_400), after(86_400))).toEqual([]);
  });
}

function repairCases(makeStore: MakeStore): void {
  test('a paused watch is not due, however old its lease is', async () => {
    const { store, creation } = await withWatch(makeStore);
    await store.markPublished(creation.run_id, 1);
    await store.commit(newChange(creation, { set: { status: 'paused' } }));
    expect(await store.dueForRepair(after(9000), 10)).toEqual([]);
  });

  test('standing watches are those of all callers that are neither paused nor deleted', async () => {
    const store = await makeStore();
    const [standing, paused, deleted] = [newCreation(), newCreation({ caller: 'bob' }), newCreation()];
    const other = newCreation({ caller: 'bob' });
    for (const creation of [standing, paused, deleted, other]) await store.create(creation, start);
    await store.commit(newChange(paused, { set: { status: 'paused' } }));
    await store.commit(newChange(deleted, { set: { deleted_at: after(5).toISOString() } }));
    const lost = { ...other.state, openings: 7 };
    await store.commit(newChange(other, { set: { status: 'stream_lost', state: lost } }));
    const runs = await store.standing();
    expect(runs.map(({ status, state }) => `${status} ${state.openings}`).toSorted()).toEqual([
      'active 0',
      'stream_lost 7',
    ]);
  });

  test('eight open conditions with long texts of any language are read as they were stored', async () => {
    const store = await makeStore();
    const creation = withLargestState(newCreation());
    await store.create(creation, start);
    expect(await store.get(creation.run_id, start)).toEqual(toStored(creation));
    await store.commit(newChange(creation, { set: { generation: 7 } }));
    expect(await store.get(creation.run_id, start)).toMatchObject({
      state: creation.state,
      generation: 7,
    });
  });

  test('a watch keeps the streams that it had before, with the last event of each', async () => {
    const { store, creation } = await withWatch(makeStore);
    const watch = watchSchema.parse(creation);
    const former_streams = [
      { stream_url: 'https://camera-a.example/live.m3u8?token=***', last_sequence: 0 },
      { stream_url: 'https://camera-b.example/live.m3u8', last_sequence: 7 },
    ];
    await store.commit(newChange(creation, { meta: { ...watch, former_streams }, set: {} }));
    const stored = await store.get(watch.run_id, start);
    expect(stored && 'former_streams' in stored && stored.former_streams).toEqual(former_streams);
  });

  test('a deleted watch is due for its purge after a day', async () => {
    const { store, creation } = await withWatch(makeStore);
    const id = creation.run_id;
    await store.markPublished(id, 1);
    await store.commit(newChange(creation, { set: { deleted_at: start.toISOString() } }));
    expect(await store.dueForRepair(after(86_000), 10)).toEqual([]);
    expect(await store.dueForRepair(after(86_461), 10)).toEqual([id]);
    await store.purge(id);
    expect(await store.dueForRepair(after(86_461), 10)).toEqual([]);
  });
}
