import { endpointErrorCodes, type Tag } from '../http/endpoint.ts';
import { endpoints } from '../http/endpoints/endpoints.ts';
import { namedSchemas, responseSchema, operationObject } from './path-item.ts';
import { errorExamples } from './error-examples.ts';
import type { JsonObject } from './json-schema.ts';
import type { z } from 'zod';
import { policyEvents } from '../../core/policies/records.ts';
import * as events from '../../core/responses/events.ts';
import { summaryGenerated } from './examples/digest.ts';
import * as examples from './examples/events.ts';
import { testEvent } from './examples/webhooks.ts';

type Webhook = { type: string; title: string; schema: z.ZodType; example: object };

/** Events that webhooks receive. */
export const webhooks: Webhook[] = [
  {
    type: 'job_started',
    title: 'A job began',
    schema: events.jobStartedSchema,
    example: examples.jobStarted,
  },
  {
    type: 'watch_triggered',
    title: 'The condition holds',
    schema: policyEvents.watch_triggered.streamed,
    example: examples.watchTriggered,
  },
  {
    type: 'summary_generated',
    title: 'A window of a digest has ended',
    schema: policyEvents.summary_generated.streamed,
    example: summaryGenerated,
  },
  {
    type: 'job_stopped',
    title: 'A job ended',
    schema: events.jobStoppedSchema,
    example: examples.jobStopped,
  },
  { type: 'error', title: 'A job failed', schema: events.errorEventSchema, example: examples.failed },
  { type: 'test', title: 'A test event was requested', schema: events.testEventSchema, example: testEvent },
];

/** Creates the `webhooks` section: requests to a receiver and its responses. */
function webhooksSection(): JsonObject {
  return Object.fromEntries(webhooks.map((webhook) => [webhook.type, { post: requestToReceiver(webhook) }]));
}

function requestToReceiver({ type, title, schema, example }: Webhook): JsonObject {
  return {
    operationId: `on_${type}`,
    tags: ['webhooks'],
    summary: title,
    description:
      'Sent to `webhook_url`, signed according to Standard Webhooks. Attempts follow at 0, 5, 30 and 120 s until the receiver responds with 2xx within 30 s. Events of a job arrive in order, each at least once.',
    security: [],
    parameters: [
      header('webhook-id', 'The same in all attempts: use it to detect repeated deliveries'),
      header('webhook-timestamp', 'Seconds since 1970'),
      header('webhook-signature', 'v1,<base64>; several with spaces between them while a secret rotates'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: responseSchema(schema), examples: { [type]: { value: example } } },
      },
    },
    responses: {
      '2XX': { description: 'Received' },
      '410': { description: 'Stops all deliveries of this job' },
      default: { description: 'Retried at most three times; `Retry-After` up to 300 s is respected' },
    },
  };
}

function header(name: string, description: string): JsonObject {
  return { name, in: 'header', required: true, description, schema: { type: 'string' } };
}

/**
 * Version of the interface, not of the software: callers rely on it. `GET /service` returns the version of the
 * software.
 */
const interfaceVersion = '1.0.0';

/** Creates the OpenAPI 3.1 document of the API below `baseUrl`. */
export function openApiDocument(baseUrl: string): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Watchpost API',
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
