import { validateStream } from '../../../core/stream/validate-stream.ts';
import { validateStreamRequestSchema } from '../../../core/requests/validate-stream.ts';
import { streamValidationResponseSchema } from '../../../core/responses/checks.ts';
import { streamUrl } from '../../openapi/examples/jobs.ts';
import * as examples from '../../openapi/examples/checks.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Endpoint that validates stream URLs. */

const validateStreamEndpoint = defineEndpoint(
  {
    id: 'validate_stream',
    method: 'post',
    path: '/streams/validate',
    tag: 'checks',
    title: 'Check a stream URL',
    description:
      'Checks that the URL is a live stream. A stream that is not live returns `error_hint`, not an error.',
    scope: 'jobs',
    effect: 'probes',
    rateLimit: 'calls',
    // Includes a probe of 20 s, and with `include_frame` a capture of 20 s.
    timeBudgetSeconds: 40,
    request: { body: validateStreamRequestSchema },
    response: jsonResponse(streamValidationResponseSchema, {
      description: 'What is there',
      picture: 'frame_b64',
    }),
    errors: ['INVALID_URL', 'STREAM_FETCH_FAILED'],
    examples: {
      body: { stream: { stream_url: streamUrl } },
      response: { live: examples.liveStream, offline: examples.offlineStream },
    },
  },
  ({ body, caller }, deps) => validateStream(body.stream_url, body.include_frame, caller, deps),
);

export const streamEndpoints = [validateStreamEndpoint];
