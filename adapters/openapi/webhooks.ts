import type { z } from 'zod';
import { policyEvents } from '../../core/policies/records.ts';
import * as events from '../../core/responses/events.ts';
import { responseSchema } from './components.ts';
import { summaryGenerated } from './examples/digest.ts';
import * as examples from './examples/events.ts';
import { testEvent } from './examples/webhooks.ts';
import type { JsonObject } from './json-schema.ts';

export type Webhook = { type: string; title: string; schema: z.ZodType; example: object };

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
export function webhooksSection(): JsonObject {
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
