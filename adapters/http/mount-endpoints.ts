import { Hono } from 'hono';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { WatchpostError } from '../../core/errors.ts';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpCollaborators } from './collaborators.ts';
import type { Endpoint } from './endpoint.ts';
import { noStore } from './no-store.ts';
import { requireFixedHeaders, requireScope } from './require-scope.ts';

/** Creates the routes of declared endpoints. */
export function mountEndpoints(endpoints: readonly Endpoint[], deps: HttpCollaborators): Hono<AuthEnv> {
  const app = new Hono<AuthEnv>();
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/\{(\w+)\}/g, ':$1');
    app.on(endpoint.method.toUpperCase(), [path], ...guards(endpoint), (context) =>
      endpoint.respond(context, deps),
    );
  }
  return app;
}

function guards({ maxBodyBytes, scope, fixedHeaders, response }: Endpoint): MiddlewareHandler<AuthEnv>[] {
  return [
    limitBody(maxBodyBytes),
    ...(scope ? [requireScope(scope)] : []),
    ...(fixedHeaders ? [requireFixedHeaders(fixedHeaders)] : []),
    ...(response.kind === 'json' && response.secret ? [noStore()] : []),
  ];
}

/** Returns a guard against request bodies above the limit: 413. */
export function limitBody(maxBytes: number): MiddlewareHandler<AuthEnv> {
  return bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new WatchpostError(
        'PAYLOAD_TOO_LARGE',
        'Request body is too large',
        `Send at most ${maxBytes / 1_000_000} MB; a smaller frame is enough for the model.`,
      );
    },
  });
}
