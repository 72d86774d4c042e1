import { beforeEach, expect, test } from 'vitest';
import { deliver } from '../../../core/delivery/deliver.ts';
import type { DestinationOutcome } from '../../../core/ports/delivery.ts';
import { publishRun } from '../../../core/delivery/publish.ts';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { createWorld, type World } from '../../support/world.ts';
import { openAlert } from '../../support/watches/watch-alerts.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
let outcome: DestinationOutcome;

beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
  outcome = 'delivered';
  world.c.destinations = {
    ...world.c.destinations,
    send: async () => ({ outcome, status: 200, latencyMs: 12, error: null, retryAfter: null }),
  };
});

/** Creates a watch with two destinations and three events: created, paused, resumed. */
async function createWatch(): Promise<string> {
  const address = { type: 'webhook', url: 'https://receiver.example/hook' };
  const { body } = await call('POST', '/watches', {
    name: 'Gate',
    stream_url: 'https://camera.example/live.m3u8',
    conditions: [{ condition: 'A person is at the gate' }],
    destinations: [
      { ...address, destination_id: 'a' },
      { ...address, destination_id: 'b' },
      { ...address, destination_id: 'kuma', type: 'heartbeat' },
    ],
  });
  for (const change of ['pause', 'resume']) await call('POST', `/watches/${body.watch_id}/${change}`);
  return body.watch_id;
}

async function deliverAll(watchId: string): Promise<void> {
  await publishRun({ run: 'watch', run_id: watchId }, world.c);
  for (const message of world.queuedForDestinations.splice(0)) await deliver(message, world.c);
}

test('the deliveries of a watch are listed by event and destination, filtered, in pages of whole events', async () => {
  const id = await createWatch();
  await deliverAll(id);
  const list = async (query: string) => (await call('GET', `/watches/${id}/deliveries${query}`)).body;
  const places = ({ deliveries }: { deliveries: { sequence: number; destination_id: string }[] }) =>
    deliveries.map(({ sequence, destination_id }) => `${sequence}${destination_id}`);
  const first = await list('?limit=3');
  expect(places(first)).toEqual(['1a', '1b', '2a', '2b']);
  expect(first).toMatchObject({ watch_id: id, next_after: 2, has_more: true });
  expect(first.deliveries[0]).toMatchObject({
    type: 'watch_changed',
    state: 'delivered',
    attempts: [{ status: 200 }],
  });
  const rest = await list('?after=2');
  expect(places(rest)).toEqual(['3a', '3b']);
  expect(rest).toMatchObject({ next_after: 3, has_more: false });
  expect(places(await list('?destination_id=b'))).toEqual(['1b', '2b', '3b']);
  expect(places(await list('?state=failed'))).toEqual([]);
});

test('an event from before a destination is sent to it on request, once its first attempt would be over', async () => {
  const id = await createWatch();
  await deliverAll(id);
  const { body: watch } = await call('GET', `/watches/${id}`);
  const late = { destination_id: 'late', type: 'webhook', url: 'https://example.com/late' };
  const kept = watch.destinations.map(({ destination_id, type }: any) => ({ destination_id, type }));
  expect((await call('PATCH', `/watches/${id}`, { destinations: [...kept, late] })).status).toBe(200);
  const resend = () => call('POST', `/watches/${id}/deliveries/1/late/resend`);
  expect((await resend()).body.error).toMatchObject({ code: 'BAD_REQUEST' });
  world.advance(60);
  expect(await resend()).toMatchObject({ status: 200, body: { destination_id: 'late', sequence: 1 } });
  await deliverAll(id);
  const { body } = await call('GET', `/watches/${id}/deliveries?destination_id=late`);
  expect(body.deliveries[0]).toMatchObject({ sequence: 1, state: 'delivered' });
});

test('an open alert is sent immediately to a destination that was added after it, and not twice to another', async () => {
  const id = await createWatch();
  await openAlert(world, id);
  const { destinations } = (await call('GET', `/watches/${id}`)).body;
  const kept = destinations.map((one: any) => ({ destination_id: one.destination_id, type: one.type }));
  const late = { destination_id: 'late', type: 'webhook', url: 'https://example.com/late' };
  await call('PATCH', `/watches/${id}`, { destinations: [...kept, late] });
  const resend = (to: string) => call('POST', `/watches/${id}/deliveries/4/${to}/resend`);
  expect((await resend('a')).body.error).toMatchObject({ code: 'BAD_REQUEST' });
  expect(await resend('late')).toMatchObject({ status: 200, body: { type: 'alert_opened' } });
  await deliverAll(id);
  const { body } = await call('GET', `/watches/${id}/deliveries?after=3`);
  const openings = body.deliveries.filter(({ sequence }: any) => sequence === 4);
  expect(openings.map((one: any) => [one.destination_id, one.attempts.length])).toEqual(
    ['a', 'b', 'late'].map((name) => [name, 1]),
  );
});

test('a delivery of a watch is sent again with its own attempts, and a success enables its destination', async () => {
  const id = await createWatch();
  outcome = 'gone';
  await deliverAll(id);
  const resend = (place: string) => call('POST', `/watches/${id}/deliveries/${place}/resend`);
  outcome = 'delivered';
  expect(await resend('1/a')).toMatchObject({
    status: 200,
    body: { watch_id: id, destination_id: 'a', sequence: 1, type: 'watch_changed', resend: 1 },
  });
  await deliverAll(id);
  const { body } = await call('GET', `/watches/${id}/deliveries?destination_id=a&limit=1`);
  expect(body.deliveries[0]).toMatchObject({
    state: 'delivered',
    resend: 1,
    attempts: [{ resend: 0 }, { resend: 1 }],
  });
  const states = await world.c.deliveries.states({ run: 'watch', run_id: id });
  expect(states.map(({ destination_id, disabled }) => [destination_id, disabled === null])).toEqual([
    ['a', true],
    ['b', false],
  ]);
  expect((await resend('1/a')).status).toBe(429);
  for (const place of ['9/a', '1/none', '1/kuma'])
    expect([place, (await resend(place)).body.error?.code]).toEqual([place, 'NOT_FOUND']);
  expect((await call('POST', `/watches/${crypto.randomUUID()}/deliveries/1/a/resend`)).body.error.code).toBe(
    'WATCH_NOT_FOUND',
  );
});
