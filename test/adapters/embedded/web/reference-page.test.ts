import { expect, test } from 'vitest';
import { mountReferencePage } from '../../../../adapters/embedded/web/reference-page.ts';

const get = (path: string) => mountReferencePage().request(path);

test('the page has no inline script or style and no resource of another host', async () => {
  const html = await (await get('/docs')).text();
  expect(html).not.toMatch(/https?:|\/\/[a-z]/i);
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/i);
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/i);
});

test('every resource of the page is served by this service', async () => {
  const html = await (await get('/docs')).text();
  const named = [...html.matchAll(/(?:src|<link[^>]* href)="([^"]+)"/g)].map(([, path]) => String(path));
  expect(named).toHaveLength(4);
  for (const path of named) {
    const response = await get(path);
    expect(response.status, path).toBe(200);
    expect((await response.arrayBuffer()).byteLength, path).toBeGreaterThan(100);
  }
});

test('the page leads back to the console', async () => {
  for (const path of ['/docs', '/docs/'])
    expect(await (await get(path)).text()).toContain('<a href="/console">Console</a>');
});

test('the style sheet and the start script name no other host', async () => {
  const css = await (await get('/docs/swagger-ui.css')).text();
  expect(css).not.toMatch(/@import|url\(["']?(?:https?:)?\/\//i);
  const start = await (await get('/docs/show-reference.js')).text();
  expect(start).not.toMatch(/https?:/);
  expect(start).toContain("url: '/openapi.json'");
  expect(start).toContain('validatorUrl: null');
});

test('the content security policy blocks requests of the package to other hosts', async () => {
  for (const path of ['/docs', '/docs/swagger-ui-bundle.js']) {
    const policy = (await get(path)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  }
});

test.each(['/docs/package.json', '/docs/..%2fpackage.json', '/docs/index.html'])(
  '%s is not served',
  async (path) => {
    expect((await get(path)).status).toBe(404);
  },
);
