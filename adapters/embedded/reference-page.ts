import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Hono } from 'hono';
import type { Context } from 'hono';

const require = createRequire(import.meta.url);

/**
 * Serves the reference page at `/docs`: Swagger UI from its npm package, so that it works offline. For the embedded service; on
 * AWS the same files are in a bucket.
 */
export function referencePage() {
  const pages = new Hono().get('/docs', sendPage).get('/docs/', sendPage);
  for (const { name, type, read } of files) {
    pages.get(`/docs/${name}`, async (context) =>
      context.body(await read(), 200, { ...headers, 'Content-Type': type }),
    );
  }
  return pages;
}

function sendPage(context: Context): Response | Promise<Response> {
  return context.html(page, 200, headers);
}

/** Allows no other origin and no inline script. Swagger UI's style sheet contains `data:` images. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'public, max-age=3600',
};

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Watchpost: API reference</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <p><a href="/console">Console</a> · <a href="/openapi.json">OpenAPI document</a></p>
    <div id="reference"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/show-reference.js"></script>
  </body>
</html>
`;

/**
 * Script that starts Swagger UI. Without `validatorUrl: null` the page sends the document's address to a validator on the
 * internet.
 */
const showReference = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
});
`;

const javascript = 'text/javascript; charset=utf-8';

const files = [
  loadFile('swagger-ui.css', require.resolve('swagger-ui-dist/swagger-ui.css'), 'text/css; charset=utf-8'),
  loadFile('swagger-ui-bundle.js', require.resolve('swagger-ui-dist/swagger-ui-bundle.js'), javascript),
  loadFile('favicon-32x32.png', require.resolve('swagger-ui-dist/favicon-32x32.png'), 'image/png'),
  { name: 'show-reference.js', type: javascript, read: async () => new TextEncoder().encode(showReference) },
];

function loadFile(name: string, path: string, type: string) {
  return { name, type, read: async () => new Uint8Array(await readFile(path)) };
}
