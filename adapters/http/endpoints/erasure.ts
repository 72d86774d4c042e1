import { eraseCaller } from '../../../core/access/erase-caller.ts';
import { callerPathSchema } from '../../../core/requests/keys.ts';
import { erasureResponseSchema } from '../../../core/responses/access.ts';
import * as examples from '../../openapi/examples/access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

const eraseCallerEndpoint = defineEndpoint(
  {
    id: 'delete_caller',
    tag: 'access',
    scope: 'admin',
    method: 'delete',
    path: '/callers/{caller}',
    title: 'Erase a caller',
    description:
      'Removes a caller with everything that is stored for it: keys, jobs, watches, frames and clips, events, alerts, deliveries and usage. Running jobs end without a further event. Repeat the call until `complete` is true. A key cannot erase its own caller.',
    effect: 'removes',
    idempotent: true,
    timeBudgetSeconds: 29,
    request: { parameters: callerPathSchema },
    response: jsonResponse(erasureResponseSchema, { description: 'What was removed' }),
    errors: ['NOT_FOUND'],
    examples: { parameters: { caller: 'mooring' }, response: { erased: examples.erasure } },
  },
  ({ parameters: { caller }, key }, deps) => eraseCaller(key, caller, deps),
);

export const erasureEndpoints = [eraseCallerEndpoint];
