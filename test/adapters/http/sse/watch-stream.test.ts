import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../../adapters/http/app.ts';
import { mintKey } from '../../../../core/access/api-key.ts';
import type { WatchCreation } from '../../../../core/ports/watch-store.ts';
import { logged, newChange, newCreation, progress } from '../../../contract/watch-records.ts';
import { openEvents } from '../../../support/event-stream.ts';
import { createWorld } from '../../../support/world.ts';
import type { World } from '../../../support/world.ts';

let world: World;
let key: string;
beforeEach(async () => {
  world = createWorld();
  const minted = mintKey({ caller: 'alice', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  key = minted.text;
});
afterEach(() => world.close());

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
  const stored = (await world.c.watches.get(watch.run_id))!;
  const { sequence } = stored;
  const [event] = logged(watch, [progress], sequence);
  const timestamp = world.clock.now.toISOString();
  const set = { sequence: sequence + 1 };
  await world.c.watches.commit(newChange(stored, { set, events: [{ ...event!, timestamp }] }));
}

/** Deletes a watch, with an event just before the deletion and one in its commit. */
async function remove(creation: WatchCreation): Promise<void> {
  await append(creation);
  const run = (await world.c.watches.get(creation.run_id))!;
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

  test('a stream continues after Last-Event-ID, which precedes the query', async () => {
    const id = (await create(3)).run_id;
    const reader = await stream(`/watches/${id}/events?after=0`, { 'Last-Event-ID': '2' });
    expect(titles(await take(reader, 2))).toEqual(['progress 3', 'progress 4']);
    await reader.leave();
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
    const run = (await world.c.watches.get(id))!;
    await world.c.watches.commit(newChange(run, { set: { deleted_at: world.clock.now.toISOString() } }));
    expect(await reader.rest()).toEqual([]);
  });

  test('a reader receives what is committed with the deletion, and just before it, then the stream ends', async () => {
    const watch = await create();
    const reader = await stream(`/watches/${watch.run_id}/events?after=1`);
    const all = await stream('/watches/events', { 'Last-Event-ID': `${watch.run_id}.1` });
    const behind = await stream('/watches/events', { 'Last-Event-ID': `${watch.run_id}.1` });
    await remove(watch);
    expect(titles(await reader.rest())).toEqual(['progress 2', 'watch_changed 3']);
    for (const each of [all, behind]) {
      const types = (await take(each, 2)).map(({ event }) => event);
      expect(types).toEqual(['progress', 'watch_changed']);
      await each.leave();
    }
    const page = await read(`/watches/events?after=${watch.run_id}.1`);
    expect(page.events.map(({ type }: any) => type)).toEqual(['progress', 'watch_changed']);
    expect(page).toMatchObject({ next_after: '', has_more: false });
  });

  test('a watch of another caller has no stream', async () => {
    const id = (await create(0, 'bob')).run_id;
    expect((await get(`/watches/${id}/events`, sse)).status).toBe(404);
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
    expect(await reader.next()).toMatchObject({ event: 'state', id: '' });
    const watch = await create();
    expect(await reader.next()).toMatchObject({
      event: 'watch_changed',
      data: { data: { watch_id: watch.run_id, sequence: 1 } },
    });
    await reader.leave();
  });

  test('the ids of a stream have no deleted watches, so that a reader of months can resume', async () => {
    const [gone, kept] = [await create(), await create()];
    const reader = await stream('/watches/events');
    expect((await reader.next())?.id).toContain(gone.run_id);
    await world.c.watches.commit(newChange(gone, { set: { deleted_at: world.clock.now.toISOString() } }));
    await append(kept);
    expect((await reader.next())?.id).toBe(`${kept.run_id}.2`);
    await reader.leave();
  });

  test('pages have a position without deleted watches, an empty one without watches, and reject another text', async () => {
    expect(await read('/watches/events?after=')).toEqual({ events: [], next_after: '', has_more: false });
    const [gone, kept] = [await create(), await create()];
    const { next_after: after } = await read('/watches/events');
    expect(after).toContain(gone.run_id);
    await world.c.watches.commit(newChange(gone, { set: { deleted_at: world.clock.now.toISOString() } }));
    const { next_after: later } = await read(`/watches/events?after=${after}`);
    expect(later).toBe(`${kept.run_id}.1`);
    expect((await get('/watches/events?after=zzz')).status).toBe(422);
  });
});

test('a time that cannot be read is rejected as a time', async () => {
  const { detail } = await read('/alerts?from=yesterday');
  expect(detail).toMatchObject([{ loc: ['query', 'from'], msg: expect.stringContaining('valid datetime') }]);
});
