import { sendTestAlert } from '../../../core/delivery/test-deliveries.ts';
import { watchPathSchema } from '../../../core/requests/watch-queries.ts';
import { watchTestResponseSchema } from '../../../core/responses/deliveries.ts';
import { requireOwnWatch } from '../../../core/watch/commit-watch.ts';
import * as examples from '../../openapi/examples/watches.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Test alert of a watch, which shows whether its destinations work. */

const testWatchEndpoint = defineEndpoint(
  {
    id: 'test_watch',
    tag: 'watches',
    scope: 'jobs',
    method: 'post',
    path: '/watches/{watch_id}/test',
    title: 'Send a test alert',
    description:
      'Sends a test alert to every destination of the watch, immediately and once, and returns the result of each. A destination is tested at most every 10 s. A destination that was disabled is enabled if it accepts the alert. The event bus of a deployment on AWS receives it too.',
    effect: 'starts',
    rateLimit: 'calls',
    // Includes 30 s for the destinations, which are called concurrently.
    timeBudgetSeconds: 35,
    request: { parameters: watchPathSchema },
    response: jsonResponse(watchTestResponseSchema, { description: 'Result of each destination' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: {
      parameters: { watch_id: examples.watch.watch_id },
      response: { sent: examples.testedDestinations },
    },
  },
  async ({ parameters, caller }, deps) => {
    const stored = await requireOwnWatch(parameters.watch_id, caller, deps);
    return { destinations: await sendTestAlert(stored, deps) };
  },
);

export const testWatchEndpoints = [testWatchEndpoint];
