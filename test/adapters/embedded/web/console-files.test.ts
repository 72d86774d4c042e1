import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { consoleFiles } from '../../../../adapters/embedded/web/console-files.ts';
import { consoleCaching, consoleSecurityHeaders } from '../../../../console/security-headers.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

let folder: string;
let files: ReturnType<typeof consoleFiles>;

beforeEach(() => {
  folder = folderOfTest();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'secret.txt'), 'not of the build');
  writeFileSync(join(folder, 'assets', 'secret.txt'), 'not of the build');
  files = consoleFiles({ folder, headers: consoleSecurityHeaders, caching: consoleCaching });
});

test('the page explains how to build the console if there is no build', async () => {
  const response = await files.request('/console');
  expect(response.status).toBe(503);
  expect(await response.text()).toContain('npm run prepare');
});

test('browsers revalidate the page on each load and get 304 while it is unchanged', async () => {
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  for (const path of ['/console', '/console/']) {
    const response = await files.request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    const etag = response.headers.get('etag') ?? '';
    const again = await files.request(path, { headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
    expect(again.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Built again</title>');
  expect(await (await files.request('/console')).text()).toContain('Built again');
});

test.each([
  ['index-AbC_12-3.js', 'text/javascript; charset=utf-8'],
  ['index-AbC_12-3.css', 'text/css; charset=utf-8'],
  ['icon-AbC.svg', 'image/svg+xml'],
])('the build file %s is cached permanently and served as %s', async (name, type) => {
  writeFileSync(join(folder, 'assets', name), 'x');
  const response = await files.request(`/console/assets/${name}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(type);
  expect(response.headers.get('cache-control')).toContain('immutable');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test.each([
  '/console/assets/absent.js',
  '/console/secret.txt',
  '/console/assets/../secret.txt',
  '/console/assets/..%2fsecret.txt',
  '/console/assets/%2e%2e/secret.txt',
  '/console/assets/secret.txt',
])('the path %s returns 404', async (path) => {
  expect((await files.request(path)).status).toBe(404);
});

test('the content security policy allows this host and nothing inline', () => {
  const policy = consoleSecurityHeaders['Content-Security-Policy'];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*|data:/);
});
