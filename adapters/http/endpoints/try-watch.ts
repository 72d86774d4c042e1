import { sendTestAlert } from '../../../core/delivery/test-deliveries.ts';
import { previewQuerySchema, watchPathSchema } from '../../../core/requests/watch-queries.ts';
import { watchRequestSchema } from '../../../core/requests/watches.ts';
import { watchTestResponseSchema } from '../../../core/responses/deliveries.ts';
import { previewResponseSchema } from '../../../core/responses/watches.ts';
import { requireOwnWatch } from '../../../core/watch/commit-watch.ts';
import { previewRequest, previewWatch } from '../../../core/watch/preview-watch.ts';
import * as examples from '../../openapi/examples/watches.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse, latencyMs } from '../endpoint-response.ts';

/** Trials of a watch: a check of its conditions, and a test alert, which shows whether its destinations work. */

const shared = { tag: 'watches', scope: 'jobs', method: 'post', rateLimit: 'calls' } as const;
const watchExample = { watch_id: examples.watchId };
export const streamErrors = [
  'NOT_LIVESTREAM',
  'INVALID_URL',
  'STREAM_FETCH_FAILED',
  'INVALID_INPUT_MODE',
] as const;

export const previewNewWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'preview_new_watch',
    path: '/watches/preview',
    title: 'Try a watch before creating it',
    description: 'Checks all conditions once on a new capture. Stores nothing and tells no destination.',
    effect: 'probes',
    timeBudgetSeconds: 58,
    maxBodyBytes: 128_000,
    request: { body: watchRequestSchema },
    response: jsonResponse(previewResponseSchema, { description: 'The verdicts', picture: 'frame_b64' }),
    errors: [...streamErrors, 'VLM_ERROR'],
    examples: { body: { watch: examples.watchRequest }, response: { preview: examples.preview } },
  },
  async ({ body, caller, startedAt }, deps) =>
    presentPreview(await previewRequest(body, caller, deps), startedAt, deps.now()),
);

export const previewWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'preview_watch',
    path: '/watches/{watch_id}/preview',
    title: 'Check a watch now',
    description: 'Checks all conditions once on a new capture, without a change of their state.',
    effect: 'probes',
    timeBudgetSeconds: 58,
    request: { parameters: watchPathSchema, query: previewQuerySchema },
    response: jsonResponse(previewResponseSchema, { description: 'The verdicts', picture: 'frame_b64' }),
    errors: ['WATCH_NOT_FOUND', ...streamErrors, 'VLM_ERROR'],
    examples: { parameters: watchExample, response: { preview: examples.preview } },
  },
  async ({ parameters: { watch_id: watchId }, query: { input_mode: mode }, caller, startedAt }, deps) =>
    presentPreview(await previewWatch({ watchId, mode }, caller, deps), startedAt, deps.now()),
);

function presentPreview(
  { verdicts, capture }: Awaited<ReturnType<typeof previewWatch>>,
  startedAt: Date,
  now: Date,
) {
  return {
    verdicts,
    captured_at: capture.capturedAt.toISOString(),
    latency_ms: latencyMs(startedAt, now),
    frame_b64: Buffer.from(capture.frame).toString('base64'),
  };
}

export const testWatchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'test_watch',
    path: '/watches/{watch_id}/test',
    title: 'Send a test alert',
    description:
      'Sends a test alert to every destination of the watch, immediately and once, and returns the result of each. A destination is tested at most every 10 s. A destination that was disabled is enabled if it accepts the alert. The event bus of a deployment on AWS receives it too.',
    effect: 'starts',
    // Includes 30 s for the destinations, which are called concurrently.
    timeBudgetSeconds: 35,
    request: { parameters: watchPathSchema },
    response: jsonResponse(watchTestResponseSchema, { description: 'Result of each destination' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: {
      parameters: watchExample,
      response: { sent: examples.testedDestinations },
    },
  },
  async ({ parameters, caller }, deps) => {
    const stored = await requireOwnWatch(parameters.watch_id, caller, deps);
    return { destinations: await sendTestAlert(stored, deps) };
  },
);
