import { beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const failed = {
  check: 'model',
  status: 'failed',
  message: 'openai, llava: does not answer',
  next: 'Check that it is running.',
  detail: 'connect ECONNREFUSED 10.0.0.4:11434',
} as const;

async function get(path: string) {
  const response = await createApp({ ...world.c, health: { read: async () => [failed] } }).request(path);
  return { status: response.status, body: await response.json() };
}

test('/healthz returns 200 while the process runs, also if a check fails', async () => {
  expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
});

test('/healthz?deep returns the checks with 200, without details that need a key', async () => {
  const { detail, ...shown } = failed;
  expect(await get('/healthz?deep')).toEqual({ status: 200, body: { status: 'failed', checks: [shown] } });
  expect(detail).toContain('10.0.0.4');
});

test('/healthz?deep of a service without checks has none', async () => {
  const response = await createApp(world.c).request('/healthz?deep');
  expect(await response.json()).toEqual({ status: 'ok', checks: [] });
});
