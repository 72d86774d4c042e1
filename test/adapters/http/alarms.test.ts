import { beforeEach, expect, test } from 'vitest';
import type { Alarm } from '../../../core/ports/health.ts';
import { createClientFor, internal } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const alarms = async () =>
  (await (await createClientFor(world, ['internal'])).call('GET', '/alarms', undefined, internal)).body;

test('a service on one machine has no alarms', async () => {
  expect(await alarms()).toEqual({ alarms: null });
});

test('alarms of the service are returned unchanged', async () => {
  const failing: Alarm = {
    name: 'failed-jobs',
    state: 'alarm',
    description: 'Jobs fail.',
    since: '2026-03-01T12:00:00.000Z',
  };
  world.c.alarms = { list: () => Promise.resolve([failing]) };
  expect(await alarms()).toEqual({ alarms: [failing] });
});
