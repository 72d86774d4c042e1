import type { Env, Hono } from 'hono';
import { loadOnce } from '../load-once.ts';

/**
 * Adds `GET /openapi.json`, which needs no key; `createApp` leads to it from below `/api`. Separate from that, because
 * the document reads the endpoints that the app mounts. The first request loads what only the document needs.
 */
export function mountOpenApi<E extends Env>(app: Hono<E>, { baseUrl }: { baseUrl: string }): void {
  const text = loadOnce(async () => {
    const { openApiDocument } = await import('./document.ts');
    return JSON.stringify(openApiDocument(baseUrl));
  });
  app.get('/openapi.json', async (context) =>
    context.body(await text(), 200, {
      'Content-Type': 'application/json; charset=UTF-8',
      'Cache-Control': 'public, max-age=300',
    }),
  );
}
