import { describeService } from '../../../core/observability/describe-service.ts';
import { serviceResponseSchema } from '../../../core/responses/service.ts';
import { service } from '../../openapi/examples/observability.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Endpoint that describes the service, for clients that adapt to it. */

const serviceEndpoint = defineEndpoint(
  {
    id: 'service',
    tag: 'operations',
    scope: 'any',
    method: 'get',
    path: '/service',
    title: 'Read version, limits and model',
    description:
      'Returns the version and limits of this service, its model, and conditions that the model judges well.',
    effect: 'reads',
    request: {},
    response: jsonResponse(serviceResponseSchema, { description: 'Version, limits and model' }),
    errors: [],
    examples: { response: { service } },
  },
  async (_request, deps) => describeService(deps),
);

export const serviceEndpoints = [serviceEndpoint];
