import { endpointErrorCodes } from '../http/endpoint.ts';
import type { Tag } from '../http/endpoint.ts';
import { endpoints } from '../http/endpoints/endpoints.ts';
import { namedSchemas } from './components.ts';
import { errorExamples } from './error-examples.ts';
import type { JsonObject } from './json-schema.ts';
import { operationObject } from './path-item.ts';
import { webhooksSection } from './webhooks.ts';

/** Version of the interface, not of the software: callers rely on it. `GET /service` returns the version of the software. */
const interfaceVersion = '1.0.0';

/** Creates the OpenAPI 3.1 document of the API below `baseUrl`. */
export function openApiDocument(baseUrl: string): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Watchpost',
      version: interfaceVersion,
      summary: 'Watches live video streams with a vision-language model and reports events.',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths: paths(),
    webhooks: webhooksSection(),
    components: {
      securitySchemes: { apiKey: securityScheme },
      schemas: namedSchemas(endpoints.flatMap(({ request }) => request?.body ?? [])),
      examples: errorExamples(new Set(endpoints.flatMap(endpointErrorCodes))),
    },
  };
}

const description = `A job watches one stream: a monitor alerts when a condition holds, a digest summarizes each window of time.
Results are polled, pushed to a webhook, or streamed as server-sent events: three ways to read one ordered log.

Errors have one envelope; branch on \`error.code\`. \`STREAM_FETCH_FAILED\`, \`VLM_ERROR\` and \`INTERNAL_ERROR\` may pass: try again with exponential backoff.
Integers may be sent as decimal strings and booleans by their names; unknown fields are ignored. Timestamps are ISO 8601 in UTC.

The same operations are MCP tools at \`/mcp\` on this host. \`/healthz\` there needs no key.`;

const tags: Record<Tag, string> = {
  checks: 'Single checks with an immediate response.',
  jobs: 'Monitors and digests: jobs that watch a stream.',
  watches: 'Watches: monitors that stand until they are paused or deleted, and their alerts.',
  webhooks: 'Webhooks and their deliveries.',
  access: 'Keys, callers and webhook secrets.',
  operations: 'Limits and model of the service; metrics and logs, for keys with the scope `internal`.',
};

const securityScheme = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, `wp_…`. The roles of an operation are the scopes that its key needs: `read`, `jobs` (includes `read`), `keys`, `internal` or `admin` (includes `keys`).',
};

function paths(): JsonObject {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, all]) => [
      path,
      Object.fromEntries(all.map((endpoint) => [endpoint.method, operationObject(endpoint)])),
    ]),
  );
}
