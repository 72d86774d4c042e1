import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../../adapters/http/app.ts';
import { mintKey } from '../../../../core/access/api-key.ts';
import type { WatchCreation } from '../../../../core/ports/runs.ts';
import { logged, newChange, newCreation, progress } from '../../../contract/watch-records.ts';
import { openEvents } from '../../../support/api/event-stream.ts';
import { createWorld, type World } from '../../../support/world.ts';

let world: World;
let key: string;
beforeEach(async () => {
  world = createWorld();
  const minted = mintKey({ caller: 'alice', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  key = minted.text;
});

const sse = { accept: 'text/event-stream' };
const get = (path: string, headers: Record<string, string> = {}) =>
  createApp(world.c).request(`/api${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
const read = async (path: string) => (await (await get(path)).json()) as any;
const stream = async (path: string, headers: Record<string, string> = {}) =>
  openEvents(await get(path, { ...sse, ...headers }));

/** Creates a watch whose log has its creation and some checks. */
async function create(checks = 0, caller = 'alice'): Promise<WatchCreation> {
  const creation = newCreation({ caller });
  await world.c.watches.create(creation, world.clock.now);
  for (let check = 0; check < checks; check += 1) await append(creation);
  return creation;
}

async function append(watch: WatchCreation): Promise<void> {
  const stored = (await world.c.watches.get(watch.run_id, new Date(0)))!;
  const { sequence } = stored;
  const [event] = logged(watch, [progress], sequence);
  const timestamp = world.clock.now.toISOString();
  const set = { sequence: sequence + 1 };
  await world.c.watches.commit(newChange(stored, { set, events: [{ ...event!, timestamp }] }));
}

/** Returns a watch with copies of it, which have its log. */
function copies(creation: WatchCreation, count: number): WatchCreation[] {
  const { database } = world;
  const { run_id: from } = creation;
  const columns = 'policy, caller, created_at, status, version, published, unpublished, lease_until, gone_at';
  const copyWatch = database.prepare(`
    INSERT INTO runs SELECT :id, ${columns}, json_set(meta, '$.run_id', :id), run FROM runs WHERE run_id = :from`);
  const copyLog = database.prepare(`
    INSERT INTO events SELECT NULL, :id, sequence, type, feed, expires_at, json_set(record, '$.watch_id', :id)
    FROM events WHERE run_id = :from`);
  const made = Array.from({ length: count }, () => {
    const id = randomUUID();
    copyWatch.run({ id, from });
    copyLog.run({ id, from });
    return { ...creation, run_id: id };
  });
  return [creation, ...made];
}

/** Deletes a watch, with an event just before the deletion and one in its commit. */
async function remove(creation: WatchCreation): Promise<void> {
  await append(creation);
  const run = (await world.c.watches.get(creation.run_id, new Date(0)))!;
  const changed = {
    type: 'watch_changed' as const,
    data: { status: run.status, reason: 'deleted' as const },
  };
  const [event] = logged(creation, [changed], run.sequence);
  const at = world.clock.now.toISOString();
  const set = { sequence: run.sequence + 1, deleted_at: at };
  await world.c.watches.commit(newChange(run, { set, events: [{ ...event!, timestamp: at }] }));
}

const titles = (events: { event: string; id: string }[]) => events.map(({ event, id }) => `${event} ${id}`);

async function take(reader: Awaited<ReturnType<typeof stream>>, count: number) {
  const events = [];
  for (let taken = 0; taken < count; taken += 1) events.push((await reader.next())!);
  return events;
}

describe('the event stream of a watch', () => {
  test('a stream without position begins with the state, then sends new events', async () => {
    const creation = await create(2);
    const id = creation.run_id;
    const reader = await stream(`/watches/${id}/events`);
    const [state] = await take(reader, 1);
    expect(state).toMatchObject({ event: 'state', id: '3', data: { data: { watches: [{ watch_id: id }] } } });
    await append(creation);
    expect(titles(await take(reader, 1))).toEqual(['progress 4']);
    await reader.leave();
  });

  test('a stream or page with types has only their events, of one watch and of all, and an unknown type is refused', async () => {
    const { run_id: id } = await create(2);
    const { next_after: position } = await read('/watches/events');
    await append(await create(1));
    for (const [path, type] of [
      [`/watches/${id}/events?after=0&types=progress`, 'progress'],
      [`/watches/events?after=${position}&types=progress,alert_opened`, 'progress'],
      [`/watches/events?after=${position}&types=watch_changed`, 'watch_changed'],
    ] as const) {
      const reader = await stream(path);
      expect((await take(reader, 1))[0]!.event).toBe(type);
      await reader.leave();
    }
    for (const path of [`/watches/${id}/events`, '/watches/events']) {
      expect((await read(`${path}?types=stream_lost`)).events).toEqual([]);
      expect((await read(`${path}?types=progress`)).events.length).toBeGreaterThan(0);
    }
    expect((await get('/watches/events?types=alarm', sse)).status).toBe(422);
  });

  test('an expired position continues with the next event that is kept', async () => {
    const creation = await create(3);
    world.advance(2 * 86_400);
    await append(creation);
    const reader = await stream(`/watches/${creation.run_id}/events`, { 'Last-Event-ID': '2' });
    expect(titles(await take(reader, 1))).toEqual(['progress 5']);
    await reader.leave();
  });

  test('a position beyond the log means now, for streams and for pages', async () => {
    const creation = await create(1);
    const path = `/watches/${creation.run_id}/events?after=99999`;
    expect(await read(path)).toMatchObject({ events: [], next_after: 2, has_more: false });
    const reader = await stream(path);
    await append(creation);
    expect(titles(await take(reader, 1))).toEqual(['progress 3']);
    await reader.leave();
  });

  test('a stream has comments while nothing happens, and ends with the deletion of the watch', async () => {
    const creation = await create();
    const id = creation.run_id;
    const reader = await stream(`/watches/${id}/events?after=1`);
    expect(await reader.comment()).toBeDefined();
    const run = (await world.c.watches.get(id, new Date(0)))!;
    await world.c.watches.commit(newChange(run, { set: { deleted_at: world.clock.now.toISOString() } }));
    expect(await reader.rest()).toEqual([]);
  });

  test('a reader receives what is committed with the deletion, and just before it, then the stream ends', async () => {
    const creation = await create();
    const reader = await stream(`/watches/${creation.run_id}/events?after=1`);
    const { next_after: position } = await read('/watches/events');
    const all = await stream('/watches/events', { 'Last-Event-ID': position });
    const behind = await stream('/watches/events', { 'Last-Event-ID': position });
    await remove(creation);
    expect(titles(await reader.rest())).toEqual(['progress 2', 'watch_changed 3']);
    for (const each of [all, behind]) {
      const types = (await take(each, 2)).map(({ event }) => event);
      expect(types).toEqual(['progress', 'watch_changed']);
      await each.leave();
    }
    const page = await read(`/watches/events?after=${position}`);
    expect(page.events.map(({ type }: any) => type)).toEqual(['progress', 'watch_changed']);
    expect(page).toMatchObject({ has_more: false });
    expect((await read(`/watches/events?after=${page.next_after}`)).events).toEqual([]);
  });
});

describe('the event stream of all watches', () => {
  test('a stream has the events of all watches of the caller, and continues at a position in all logs', async () => {
    const [one, other] = [await create(), await create()];
    await create(1, 'bob');
    const reader = await stream('/watches/events');
    expect(await reader.next()).toMatchObject({ event: 'state' });
    await append(one);
    const [first] = await take(reader, 1);
    expect(first?.data.data.watch_id).toBe(one.run_id);
    await reader.leave();
    await append(other);
    const resumed = await stream('/watches/events', { 'Last-Event-ID': first!.id });
    expect((await resumed.next())?.data.data.watch_id).toBe(other.run_id);
    await resumed.leave();
  });

  test('a watch that is created later is in the stream from its first event', async () => {
    const reader = await stream('/watches/events');
    expect(await reader.next()).toMatchObject({ event: 'state' });
    const watch = await create();
    expect(await reader.next()).toMatchObject({
      event: 'watch_changed',
      data: { data: { watch_id: watch.run_id, sequence: 1 } },
    });
    await reader.leave();
  });

  test('a position beyond all logs means now, and another text is rejected', async () => {
    const one = await create(2);
    const { next_after: end } = await read('/watches/events?after=99999');
    await append(one);
    expect((await read(`/watches/events?after=${end}`)).events).toHaveLength(1);
    expect((await get('/watches/events?after=zzz')).status).toBe(422);
  });

  test('pages and streams of two thousand watches have each event once, with positions of a few characters', async () => {
    const watches = copies(await create(), 1_999);
    world.c.watches.list = () => Promise.reject(new Error('A page reads no other watches'));
    const seen = new Set<string>();
    let after = '';
    for (let hasMore = true; hasMore;) {
      const page = await read(`/watches/events?limit=300&after=${after}`);
      for (const { data } of page.events) seen.add(data.watch_id);
      hasMore = page.has_more;
      after = page.next_after;
      expect(after.length).toBeLessThan(16);
    }
    expect(seen.size).toBe(2_000);
    const reader = await stream('/watches/events', { 'Last-Event-ID': after });
    for (const creation of [watches[7]!, watches[1_999]!, watches[7]!]) await append(creation);
    const ids = (await take(reader, 3)).map(({ data }) => [data.data.watch_id, data.data.sequence]);
    expect(ids).toEqual([
      [watches[7]!.run_id, 2],
      [watches[1_999]!.run_id, 2],
      [watches[7]!.run_id, 3],
    ]);
    await reader.leave();
  });
});

test('a time that cannot be read is rejected as a time', async () => {
  const { detail } = await read('/alerts?from=yesterday');
  expect(detail).toMatchObject([{ loc: ['query', 'from'], msg: expect.stringContaining('datetime') }]);
});
