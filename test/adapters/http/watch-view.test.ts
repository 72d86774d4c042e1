import { beforeEach, expect, test } from 'vitest';
import { captureTick } from '../../../core/workflow/capture-tick.ts';
import { viewLength } from '../../../core/records/watch-state.ts';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
});

const regions = [
  {
    mode: 'exclude',
    points: [
      [0, 0],
      [0.5, 0],
      [0, 0.5],
    ],
  },
];

async function createWatch(given: object): Promise<string> {
  const { body } = await call('POST', '/watches', {
    name: 'Gate',
    stream_url: 'https://camera.example/live.m3u8',
    conditions: [{ condition: 'A person is at the gate' }],
    ...given,
  });
  return body.watch_id;
}

test('another view than that of the regions is part of the state, until its regions are saved', async () => {
  const id = await createWatch({ regions });
  const since = world.clock.now.toISOString();
  const watch = (await world.c.watches.get(id, new Date(0)))!;
  const view = { drawn: '0'.repeat(viewLength), other: { since, pictures: 5, told: true } };
  const state = { ...watch.state, health: { ...watch.state.health, view } };
  await world.c.watches.commit({
    runId: id,
    expectedVersion: watch.version,
    set: { sequence: watch.sequence, state },
    events: [],
    alerts: [],
    hours: [],
  });
  const read = async () => (await call('GET', `/watches/${id}`)).body.state.view_changed_since;
  expect(await read()).toBe(since);
  await call('PATCH', `/watches/${id}`, { name: 'Gate, north' });
  expect(await read()).toBe(since);
  await call('PATCH', `/watches/${id}`, { regions });
  expect(await read()).toBeNull();
  const { body } = await call('GET', `/watches/${id}/events?types=watch_changed`);
  expect(body.events.map(({ data }: any) => [data.reason, data.ended_by])).toEqual([
    ['created', undefined],
    ['changed', undefined],
    ['changed', undefined],
    ['view_restored', 'changed'],
  ]);
});

test('a capture describes the view of a watch with regions only', async () => {
  for (const given of [{ regions }, {}]) {
    const id = await createWatch(given);
    const { source_id } = (await world.c.watches.get(id, new Date(0)))!;
    const input = { source_id, tick: 1, closing: false, resolve_again: false, motion: null, seen: null };
    const captured = await captureTick(input, world.c);
    expect('view' in captured).toBe('regions' in given);
  }
});
