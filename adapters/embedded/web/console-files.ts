import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Hono, type Context } from 'hono';

export type ConsoleFiles = {
  folder: string;
  /** Page of the build; default: the console. */
  page?: string;
  /** Headers of every response. */
  headers: Record<string, string>;
  caching: { page: string; asset: string };
};

type File = { bytes: Uint8Array<ArrayBuffer>; etag: string };

/**
 * Serves the web console at `/console` from the folder that `npm run prepare` writes. It accepts only file names that
 * the build produces, so no request can leave the folder.
 */
export function consoleFiles({ folder, page: pageName = 'index.html', headers, caching }: ConsoleFiles) {
  const read = rememberedFiles(folder);
  const send = async (context: Context, name: string, cacheControl: string): Promise<Response> => {
    const file = await read(name);
    if (!file) return context.notFound();
    const all = { ...headers, 'Cache-Control': cacheControl, ETag: file.etag };
    if (context.req.header('If-None-Match') === file.etag) return context.body(null, 304, all);
    return context.body(file.bytes, 200, { ...all, 'Content-Type': readType(name) });
  };
  const page = async (context: Context): Promise<Response> =>
    (await read(pageName)) ? send(context, pageName, caching.page) : notBuilt(context, headers);
  return new Hono()
    .get('/console', page)
    .get('/console/', page)
    .get(`/console/assets/:name{${builtName}}`, (context) =>
      send(context, join('assets', context.req.param('name')), caching.asset),
    );
}

const builtName = String.raw`[\w-]+\.(?:js|css|svg)`;

/**
 * Caches files after the first read: a build has few and small files. A missing file is read again, since a build may
 * follow.
 */
function rememberedFiles(folder: string) {
  const files = new Map<string, File>();
  return async (name: string): Promise<File | undefined> => {
    const kept = name.endsWith('.html') ? undefined : files.get(name);
    if (kept) return kept;
    const bytes = await readFile(join(folder, name)).catch(() => undefined);
    if (!bytes) return undefined;
    const file = {
      bytes: new Uint8Array(bytes),
      etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`,
    };
    files.set(name, file);
    return file;
  };
}

function readType(name: string): string {
  const types: Record<string, string> = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
  };
  return types[extname(name)] ?? 'application/octet-stream';
}

function notBuilt(context: Context, headers: Record<string, string>): Response {
  return context.text('The console is not built. Build it with: npm run prepare\n', 503, {
    ...headers,
    'Cache-Control': 'no-store',
  });
}
