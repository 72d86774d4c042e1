import { readDeliveries, resendDelivery } from '../../../core/delivery/deliveries.ts';
import { testWebhook } from '../../../core/delivery/test-deliveries.ts';
import {
  readWebhookDefaults,
  replaceWebhookDefaults,
  readWebhookSecret,
  rotateWebhookSecret,
} from '../../../core/delivery/webhook-settings.ts';
import {
  deliveryListQuerySchema,
  deliveryPathSchema,
  webhookDefaultsRequestSchema,
  webhookTestRequestSchema,
} from '../../../core/requests/deliveries.ts';
import { jobPathSchema } from '../../../core/requests/jobs.ts';
import { secretRotationQuerySchema } from '../../../core/requests/keys.ts';
import { webhookSecretResponseSchema } from '../../../core/responses/access.ts';
import {
  deliveryPageSchema,
  resendResponseSchema,
  webhookDefaultsResponseSchema,
  webhookTestResponseSchema,
} from '../../../core/responses/deliveries.ts';
import { jobId, webhookUrl } from '../../openapi/examples/jobs.ts';
import * as examples from '../../openapi/examples/webhooks.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Endpoints of webhook deliveries, resends, test events and the webhook secret. */

const shared = { tag: 'webhooks' } as const;

const listDeliveriesEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_deliveries',
    scope: 'read',
    method: 'get',
    path: '/jobs/{job_id}/deliveries',
    title: "Read a job's deliveries",
    description: 'Returns the deliveries of the events of a job, with every attempt.',
    effect: 'reads',
    request: { parameters: jobPathSchema, query: deliveryListQuerySchema },
    response: jsonResponse(deliveryPageSchema, { description: 'One page of deliveries' }),
    errors: ['JOB_NOT_FOUND'],
    examples: { parameters: { job_id: jobId }, response: { page: examples.deliveryPage } },
  },
  ({ parameters, query, caller }, deps) => readDeliveries(parameters.job_id, caller, query, deps),
);

const resendDeliveryEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'resend_delivery',
    scope: 'jobs',
    method: 'post',
    path: '/jobs/{job_id}/deliveries/{sequence}/resend',
    title: 'Send an event again',
    description:
      'Resends a delivery that was delivered or given up, with the same `webhook-id`. Possible 60 s after the last attempt of an earlier resend.',
    effect: 'starts',
    rateLimit: 'calls',
    request: { parameters: deliveryPathSchema },
    response: jsonResponse(resendResponseSchema, { description: 'It is queued' }),
    errors: ['BAD_REQUEST', 'JOB_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: { job_id: jobId, sequence: 4 }, response: { queued: examples.resent } },
  },
  ({ parameters, caller }, deps) => resendDelivery(parameters.job_id, parameters.sequence, caller, deps),
);

const testWebhookEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'test_webhook',
    scope: 'jobs',
    method: 'post',
    path: '/webhook-test',
    title: 'Send a test event',
    description:
      'Sends one signed event of the type `test` immediately and once, and returns the response of the receiver.',
    effect: 'starts',
    rateLimit: 'calls',
    // Includes 30 s for the receiver.
    timeBudgetSeconds: 35,
    request: { body: webhookTestRequestSchema },
    response: jsonResponse(webhookTestResponseSchema, { description: 'Response of the receiver' }),
    errors: ['INVALID_URL'],
    examples: {
      body: { test: { webhook_url: webhookUrl } },
      response: { delivered: examples.testDelivered, refused: examples.testRefused },
    },
  },
  ({ body, caller }, deps) => testWebhook(body.webhook_url, caller, deps),
);

const getWebhookSecretEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'get_webhook_secret',
    scope: 'keys',
    method: 'get',
    path: '/webhook-secret',
    title: 'Read the webhook secret',
    description: 'Returns the secret with which your receivers verify signatures (Standard Webhooks).',
    effect: 'reads',
    request: {},
    response: jsonResponse(webhookSecretResponseSchema, { description: 'The secret', secret: true }),
    errors: [],
    examples: { response: { secret: examples.secret } },
  },
  ({ caller }, deps) => readWebhookSecret(caller, deps),
);

const rotateWebhookSecretEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'rotate_webhook_secret',
    scope: 'keys',
    method: 'post',
    path: '/webhook-secret/rotate',
    title: 'Replace the webhook secret',
    description:
      'Creates a new secret that signs immediately, together with the old secret for `grace_seconds`.',
    effect: 'removes',
    request: { query: secretRotationQuerySchema },
    response: jsonResponse(webhookSecretResponseSchema, { description: 'The new secret', secret: true }),
    errors: [],
    examples: {
      response: {
        rotated: { ...examples.secret, version: 2, previous_valid_until: '2026-03-02T12:00:00.000Z' },
      },
    },
  },
  ({ query, caller }, deps) => rotateWebhookSecret(caller, query.grace_seconds, deps),
);

const getWebhookDefaultsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'get_webhook_defaults',
    scope: 'read',
    method: 'get',
    path: '/webhook-defaults',
    title: 'Read the webhook defaults',
    description: 'Returns the types of events that webhooks of new jobs receive if the job states none.',
    effect: 'reads',
    request: {},
    response: jsonResponse(webhookDefaultsResponseSchema, { description: 'The defaults' }),
    errors: [],
    examples: { response: { alerts: examples.webhookDefaults } },
  },
  ({ caller }, deps) => readWebhookDefaults(caller, deps),
);

const replaceWebhookDefaultsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'replace_webhook_defaults',
    scope: 'jobs',
    method: 'put',
    path: '/webhook-defaults',
    title: 'Replace the webhook defaults',
    description:
      'Sets the types of events that webhooks of new jobs receive if the job states none. Contains no URL: `webhook_url` of a job selects webhooks.',
    effect: 'changes',
    idempotent: true,
    request: { body: webhookDefaultsRequestSchema },
    response: jsonResponse(webhookDefaultsResponseSchema, { description: 'The defaults' }),
    errors: [],
    examples: {
      body: { alerts: examples.webhookDefaults },
      response: { alerts: examples.webhookDefaults },
    },
  },
  ({ body, caller }, deps) => replaceWebhookDefaults(body, caller, deps),
);

export const webhookEndpoints = [
  listDeliveriesEndpoint,
  resendDeliveryEndpoint,
  testWebhookEndpoint,
  getWebhookDefaultsEndpoint,
  replaceWebhookDefaultsEndpoint,
  getWebhookSecretEndpoint,
  rotateWebhookSecretEndpoint,
];
