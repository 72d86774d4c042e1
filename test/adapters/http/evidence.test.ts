import { beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { toNotification } from '../../../core/delivery/notification.ts';
import { newCreation } from '../../contract/watch-records.ts';
import { destination } from '../../support/watches/watch-records.ts';
import { openAlert } from '../../support/watches/watch-alerts.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const get = async (link: string) => {
  const response = await createApp(world.c).request(link);
  return { status: response.status, headers: response.headers, body: await response.arrayBuffer() };
};

/** Opens an alert and returns the link that its event has at a destination. */
async function openWithLink() {
  const creation = newCreation();
  await world.c.watches.create(creation, world.clock.now);
  await openAlert(world, creation.run_id);
  const [event] = await world.c.watches.events(creation.run_id, 1, 1, world.clock.now);
  const { frameUrl } = await toNotification(event!, creation, destination, world.c);
  return { url: new URL(frameUrl!), event: event!, watch: creation };
}

test('the link of an event returns its evidence without a key, and no cache keeps it', async () => {
  const { url } = await openWithLink();
  expect(url.pathname).toMatch(/^\/evidence\/[\w-]{36}\/2\.jpg$/);
  const { status, headers, body } = await get(url.href);
  expect(status).toBe(200);
  expect([...new Uint8Array(body)]).toEqual([255, 216, 1]);
  expect(headers.get('content-type')).toBe('image/jpeg');
  expect(headers.get('cache-control')).toBe('no-store');
});

test('each attempt of an event sends the same link, which expires a week after the event', async () => {
  const { url, event, watch } = await openWithLink();
  world.advance(3600);
  const { frameUrl } = await toNotification(event, watch, destination, world.c);
  expect(frameUrl).toBe(url.href);
  world.advance(7 * 86_400 - 3601);
  expect((await get(url.href)).status).toBe(200);
  world.advance(1);
  expect((await get(url.href)).status).toBe(403);
});

test.each<[string, (url: URL) => void]>([
  ['another event', (url) => (url.pathname = url.pathname.replace('/2.jpg', '/1.jpg'))],
  [
    'another watch',
    (url) =>
      (url.pathname = url.pathname.replace(/[0-9a-f](?=\/2\.jpg)/, (digit) => (digit === '0' ? '1' : '0'))),
  ],
  ['a later expiry', (url) => url.searchParams.set('expires', '99999999999')],
  ['another signature', (url) => url.searchParams.set('signature', 'A'.repeat(43))],
])('a link with %s is refused', async (_, change) => {
  const { url } = await openWithLink();
  change(url);
  expect((await get(url.href)).status).toBe(403);
});

test.each<[string, (url: URL) => void]>([
  ['without signature', (url) => url.searchParams.delete('signature')],
  ['with a sequence of zero', (url) => (url.pathname = url.pathname.replace('/2.jpg', '/0.jpg'))],
  ['without the name of a picture', (url) => (url.pathname = url.pathname.replace('.jpg', ''))],
])('a link %s is not found', async (_, change) => {
  const { url } = await openWithLink();
  change(url);
  expect((await get(url.href)).status).toBe(404);
});

test('the link of a deleted watch and of evidence that expired has no picture', async () => {
  const { url, watch } = await openWithLink();
  world.pictures.clear();
  expect((await get(url.href)).status).toBe(404);
  world.pictures.set(`${watch.run_id}/1.jpg`, new Uint8Array([255, 216, 1]));
  const stored = await world.c.watches.get(watch.run_id, new Date(0));
  await world.c.watches.commit({
    runId: watch.run_id,
    expectedVersion: stored!.version,
    set: { deleted_at: world.clock.now.toISOString() },
    events: [],
  });
  expect((await get(url.href)).status).toBe(404);
});

test('an event without a picture has no link', async () => {
  const { watch } = await openWithLink();
  const [created] = await world.c.watches.events(watch.run_id, 0, 1, world.clock.now);
  expect((await toNotification(created!, watch, destination, world.c)).frameUrl).toBeNull();
});
