import { Hono } from 'hono';
import { openApiDocument } from './document.ts';

/** `GET /openapi.json`: for everybody, since it says nothing of anybody. */
export function openApiRoute({ baseUrl }: { baseUrl: string }) {
  let text: string | undefined;
  return new Hono().get('/openapi.json', (context) => {
    text ??= JSON.stringify(openApiDocument(baseUrl));
    return context.body(text, 200, {
      'Content-Type': 'application/json; charset=UTF-8',
      'Cache-Control': 'public, max-age=300',
    });
  });
}
