import { beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { createClientFor, internal } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let key: string;
beforeEach(async () => {
  world = createWorld();
  ({ key } = await createClientFor(world, ['internal']));
});

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await createApp(world.c).request(`/api${path}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

const scrape = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

test('/metrics/prometheus requires the scope internal and no header, since a scraper sends none', async () => {
  const answer = await get('/metrics/prometheus');
  expect(answer).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
  expect(answer.text).toContain('watchpost_jobs_created_total 0\n');
  ({ key } = await createClientFor(world, ['jobs']));
  expect((await get('/metrics/prometheus')).status).toBe(403);
  key = 'wp_wrong';
  expect((await get('/metrics/prometheus')).status).toBe(401);
});

test.each([
  [scrape, 'text/plain'],
  ['text/plain', 'text/plain'],
  ['*/*', 'application/json'],
  ['application/json, text/plain;q=0.5', 'application/json'],
  ['application/json', 'application/json'],
])('/metrics with Accept %s returns %s', async (accept, type) => {
  const answer = await get('/metrics', { accept, ...internal });
  expect(answer.status).toBe(200);
  expect(answer.type).toContain(type);
});
