import { readFile } from 'node:fs/promises';
import { Hono, type Context } from 'hono';
import { ownFiles, packageFiles, referencePage, referencePolicy } from '../../http/reference-files.ts';

/** Serves the reference page at `/docs` for the embedded service; on AWS the same files are in a bucket. */
export function mountReferencePage() {
  const pages = new Hono().get('/docs', sendPage).get('/docs/', sendPage);
  for (const { name, type, read } of files) {
    pages.get(`/docs/${name}`, async (context) =>
      context.body(await read(), 200, { ...headers, 'Content-Type': type }),
    );
  }
  return pages;
}

function sendPage(context: Context): Response | Promise<Response> {
  return context.html(referencePage, 200, headers);
}

const headers = {
  'Content-Security-Policy': referencePolicy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'public, max-age=3600',
};

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  png: 'image/png',
};

const files = [
  ...Object.entries(packageFiles).map(([name, path]) =>
    toFile(name, async () => new Uint8Array(await readFile(path))),
  ),
  ...Object.entries(ownFiles).map(([name, text]) => toFile(name, async () => new TextEncoder().encode(text))),
];

function toFile<Read>(name: string, read: Read) {
  return { name, type: types[name.split('.').at(-1) ?? ''] ?? 'text/plain', read };
}
