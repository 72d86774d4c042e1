import { beforeEach, expect, test } from 'vitest';
import { mountReferencePage } from '../../../adapters/embedded/web/reference-page.ts';
import { createApp } from '../../../adapters/http/app.ts';
import { mountOpenApi } from '../../../adapters/openapi/mount-openapi.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

function createHost(host: 'one machine' | 'AWS') {
  const app = createApp(world.c);
  mountOpenApi(app, world.c);
  if (host === 'one machine') app.route('/', mountReferencePage());
  return app;
}

async function hint(path: string, host: 'one machine' | 'AWS' = 'one machine') {
  const response = await createHost(host).request(path);
  expect(response.status).toBe(404);
  const { error } = (await response.json()) as any;
  expect(error).toMatchObject({ code: 'NOT_FOUND', message: `No such endpoint: ${path}` });
  return error.remediation;
}

const jobPath = '/jobs/8a0e6f36-6d5a-4a2c-9d6b-0d9a1c7e2f10';

test('the root leads a browser to the console, and other callers to the API', async () => {
  const page = await createHost('AWS').request('/', { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect(page.status).toBe(302);
  expect(page.headers.get('location')).toBe('/console');
  expect(await hint('/')).toContain('below /api');
});

test.each([
  ['/jobs', '/api/jobs'],
  [jobPath, `/api${jobPath}`],
  ['/live-monitor', '/api/live-monitor'],
  ['/health', '/healthz'],
  ['/healthz/', '/healthz'],
  ['/helthz', '/healthz'],
  ['/openapi.jsn', '/openapi.json'],
  ['/swagger', '/docs'],
  ['/jbos', '/api/jobs'],
])('the answer for %s names %s', async (path, address) => {
  expect(await hint(path)).toBe(`Use ${address} on this server.`);
});

test('the document is found below the API, without a key', async () => {
  const found = await createHost('AWS').request('/api/openapi.json');
  expect([found.status, found.headers.get('location')]).toEqual([308, '/openapi.json']);
});

test('a service without reference page names the document instead', async () => {
  expect(await hint('/docs', 'AWS')).toBe('Use /openapi.json on this server.');
});

test('an address without a near one names the roots', async () => {
  expect(await hint('/wp-login.php')).toContain('the console is at /console');
});
