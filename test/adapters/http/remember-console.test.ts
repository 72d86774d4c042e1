import { beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { createClientFor } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let opened: [caller: string, origin: string][];
beforeEach(() => {
  world = createWorld();
  opened = [];
});

async function open(headers: Record<string, string>): Promise<number> {
  const consoleOpened = async (caller: string, origin: string) => void opened.push([caller, origin]);
  const response = await createApp({ ...world.c, consoleOpened, acceptsHost: () => true }).request(
    '/api/session',
    { method: 'POST', headers: { Origin: 'http://192.168.1.5:8787', ...headers } },
  );
  return response.status;
}

test('the console that a caller opens states its address, with a valid key that may write only', async () => {
  const Authorization = `Bearer ${(await createClientFor(world)).key}`;
  const address = { Host: '192.168.1.5:8787', 'Watchpost-Console': 'http://192.168.1.5:8787' };
  expect(await open({ ...address, Authorization: 'Bearer wp_wrong' })).toBe(401);
  expect(opened).toEqual([]);
  expect(await open({ ...address, Authorization })).toBe(200);
  expect(await open({ Authorization })).toBe(200);
  expect(opened).toEqual([['harbour', 'http://192.168.1.5:8787']]);
});

test('a key that may not write states no address', async () => {
  const { key } = await createClientFor(world, ['read']);
  const headers = { Host: '192.168.1.5:8787', 'Watchpost-Console': 'http://192.168.1.5:8787' };
  expect(await open({ ...headers, Authorization: `Bearer ${key}` })).toBe(200);
  expect(opened).toEqual([]);
});

test.each([
  'http://another.example:8787',
  'http://192.168.1.5',
  'javascript:alert(1)',
  'http://evil.example/path',
  'http://user:password@192.168.1.5',
  'not a URL',
  `http://${'a'.repeat(200)}.example`,
])('an address that is not the origin of the request is ignored: %s', async (origin) => {
  const Authorization = `Bearer ${(await createClientFor(world)).key}`;
  expect(await open({ Authorization, Host: '192.168.1.5:8787', 'Watchpost-Console': origin })).toBe(200);
  expect(opened).toEqual([]);
});
