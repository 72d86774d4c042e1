import { addCaller, listCallers, presentCaller } from '../../../core/access/callers.ts';
import { callerListQuerySchema, callerRequestSchema } from '../../../core/requests/keys.ts';
import { callerListResponseSchema, callerResponseSchema } from '../../../core/responses/access.ts';
import * as examples from '../../openapi/examples/access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Endpoints of callers, the tenants of the service. */

const shared = { path: '/callers', tag: 'access', scope: 'admin' } as const;

const listCallersEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_callers',
    method: 'get',
    title: 'List callers',
    description: 'Returns the tenants of this service, ordered by name.',
    effect: 'reads',
    request: { query: callerListQuerySchema },
    response: jsonResponse(callerListResponseSchema, { description: 'One page of callers' }),
    errors: [],
    examples: { response: { callers: { callers: [examples.caller], next_after: null } } },
  },
  ({ query: { after, limit } }, deps) => listCallers(after, limit, deps),
);

const addCallerEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'add_caller',
    method: 'post',
    title: 'Add a caller',
    description:
      'Creates a tenant with its own jobs, keys and webhook secret. A repeated request changes nothing.',
    effect: 'changes',
    idempotent: true,
    request: { body: callerRequestSchema },
    response: jsonResponse(callerResponseSchema, { description: 'The caller' }),
    errors: [],
    examples: {
      body: { caller: { caller: 'harbour', label: 'The harbour office' } },
      response: { caller: examples.caller },
    },
  },
  async ({ body }, deps) => presentCaller(await addCaller(body, deps)),
);

export const callerEndpoints = [listCallersEndpoint, addCallerEndpoint];
