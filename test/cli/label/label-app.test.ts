import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLabelApp, openSetFile } from '../../../cli/label/label-app.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-label-'));
  file = join(folder, 'set.jsonl');
  writeFileSync(file, '{"picture":"../secret.jpg","condition":"A dog.","expected":null}\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const app = () =>
  createLabelApp({
    set: openSetFile(file),
    name: 'set',
    readFrame: async () => new Uint8Array([0xff, 0xd8]),
    files: new Hono(),
  });
const put = (path: string, body: unknown, headers = {}) =>
  app().request(`http://127.0.0.1${path}`, {
    method: 'PUT',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  });

test('a label is stored, and an invalid one is rejected with the reason', async () => {
  expect((await put('/label/set/0', { expected: 'yes' })).status).toBe(200);
  expect(readFileSync(file, 'utf8')).toContain('"expected":"yes"');
  expect((await put('/label/set/0', { expected: 'perhaps' })).status).toBe(400);
  const gone = await put('/label/set/7', { expected: 'no' });
  expect(await gone.json()).toMatchObject({
    message: 'The set has no example 8.',
    remedy: expect.stringContaining('Reload'),
  });
});

test('pages of other origins can neither read nor label: other hosts and other content types are rejected', async () => {
  const rebound = await app().request('http://evil.example/label/set', { headers: { Host: 'evil.example' } });
  expect(rebound.status).toBe(400);
  expect((await put('/label/set/0', { expected: 'no' }, { 'Content-Type': 'text/plain' })).status).toBe(415);
  expect(readFileSync(file, 'utf8')).toContain('"expected":null');
});

test('only pictures of the set are served', async () => {
  expect((await app().request('http://127.0.0.1/label/pictures/0')).status).toBe(200);
  expect((await app().request('http://127.0.0.1/label/pictures/1')).status).toBe(404);
  expect((await app().request('http://127.0.0.1/label/pictures/..%2fsecret')).status).toBe(400);
});
