import { readUsage } from '../../../core/access/caller-usage.ts';
import { usageQuerySchema } from '../../../core/requests/usage.ts';
import { usageResponseSchema } from '../../../core/responses/observability.ts';
import * as examples from '../../openapi/examples/access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

const usageEndpoint = defineEndpoint(
  {
    id: 'usage',
    tag: 'access',
    scope: 'any',
    method: 'get',
    path: '/usage',
    title: 'Read tokens and cost by caller',
    description:
      "Returns model calls, tokens and their list price of your caller, by day (UTC). With the scope `admin`, returns those of another caller, or of all callers by name. Days are kept for 400 days; an erased caller's are gone.",
    effect: 'reads',
    request: { query: usageQuerySchema },
    response: jsonResponse(usageResponseSchema, { description: 'The use by caller and day' }),
    errors: ['BAD_REQUEST', 'FORBIDDEN'],
    examples: { response: { usage: examples.usage } },
  },
  ({ query, key }, deps) => readUsage(key, query, deps),
);

export const usageEndpoints = [usageEndpoint];
