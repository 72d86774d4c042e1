import type { Env, Hono } from 'hono';
import { openApiDocument } from './document.ts';

/**
 * Adds `GET /openapi.json`, which needs no key. Separate from `createApp`, because the document reads the endpoints that the app
 * mounts.
 */
export function mountOpenApi<E extends Env>(app: Hono<E>, { baseUrl }: { baseUrl: string }): void {
  let text: string | undefined;
  app.get('/openapi.json', (context) => {
    text ??= JSON.stringify(openApiDocument(baseUrl));
    return context.body(text, 200, {
      'Content-Type': 'application/json; charset=UTF-8',
      'Cache-Control': 'public, max-age=300',
    });
  });
}
