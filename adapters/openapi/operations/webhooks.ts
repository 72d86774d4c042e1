import { deliveryListQuerySchema, webhookTestRequestSchema } from '../../../core/requests/deliveries.ts';
import { jobPathSchema, mediaPathSchema } from '../../../core/requests/jobs.ts';
import { secretRotationQuerySchema } from '../../../core/requests/keys.ts';
import { webhookSecretResponseSchema } from '../../../core/responses/access.ts';
import {
  deliveryPageSchema,
  resendResponseSchema,
  webhookTestResponseSchema,
} from '../../../core/responses/deliveries.ts';
import { jobId, webhookUrl } from '../examples/jobs.ts';
import { deliveryPage, resent, secret, testDelivered, testRefused } from '../examples/webhooks.ts';
import type { Operation } from '../operation.ts';

const common = { tag: 'webhooks', scope: 'jobs' } as const;

export const webhookOperations: Operation[] = [
  {
    ...common,
    id: 'list_deliveries',
    method: 'get',
    path: '/jobs/{job_id}/deliveries',
    title: "Read a job's deliveries",
    description: 'What became of its events at the webhook, with every attempt.',
    effect: 'reads',
    parameters: jobPathSchema,
    query: deliveryListQuerySchema,
    answer: { kind: 'json', description: 'One page of deliveries', schema: deliveryPageSchema },
    errors: ['JOB_NOT_FOUND'],
    examples: { parameters: { job_id: jobId }, answer: { page: deliveryPage } },
  },
  {
    ...common,
    id: 'resend_delivery',
    method: 'post',
    path: '/jobs/{job_id}/deliveries/{sequence}/resend',
    title: 'Send an event again',
    description:
      'For a delivery that arrived or was given up; it keeps its `webhook-id`. Again only 60 s after the last attempt of a resend.',
    effect: 'starts',
    parameters: mediaPathSchema,
    answer: { kind: 'json', description: 'It is queued', schema: resendResponseSchema },
    errors: ['BAD_REQUEST', 'JOB_NOT_FOUND', 'NOT_FOUND', 'RATE_LIMITED'],
    examples: { parameters: { job_id: jobId, sequence: 4 }, answer: { queued: resent } },
  },
  {
    ...common,
    id: 'test_webhook',
    method: 'post',
    path: '/webhook-test',
    title: 'Send a test event',
    description: 'One signed event of the type `test`, sent once and now; says what the receiver answered.',
    effect: 'starts',
    body: webhookTestRequestSchema,
    answer: {
      kind: 'json',
      description: 'What the receiver answered',
      schema: webhookTestResponseSchema,
    },
    errors: ['INVALID_URL', 'RATE_LIMITED'],
    examples: {
      body: { test: { webhook_url: webhookUrl } },
      answer: { delivered: testDelivered, refused: testRefused },
    },
  },
  {
    ...common,
    id: 'get_webhook_secret',
    method: 'get',
    path: '/webhook-secret',
    title: 'Read the webhook secret',
    description: 'What your receivers verify signatures with, as the Standard Webhooks specification says.',
    effect: 'reads',
    answer: { kind: 'json', description: 'The secret', schema: webhookSecretResponseSchema },
    errors: [],
    examples: { answer: { secret } },
  },
  {
    ...common,
    id: 'rotate_webhook_secret',
    method: 'post',
    path: '/webhook-secret/rotate',
    title: 'Replace the webhook secret',
    description: 'A new secret signs at once, beside the old one for `grace_seconds`.',
    effect: 'removes',
    query: secretRotationQuerySchema,
    answer: { kind: 'json', description: 'The new secret', schema: webhookSecretResponseSchema },
    errors: [],
    examples: {
      answer: { rotated: { ...secret, version: 2, previous_valid_until: '2026-03-02T12:00:00.000Z' } },
    },
  },
];
