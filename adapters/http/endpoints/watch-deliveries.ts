import { readWatchDeliveries, resendWatchDelivery } from '../../../core/delivery/deliveries.ts';
import { watchDeliveryListQuerySchema, watchDeliveryPathSchema } from '../../../core/requests/deliveries.ts';
import { watchPathSchema } from '../../../core/requests/watch-queries.ts';
import { watchDeliveryPageSchema, watchResendResponseSchema } from '../../../core/responses/deliveries.ts';
import * as watchExamples from '../../openapi/examples/watches.ts';
import * as examples from '../../openapi/examples/webhooks.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Deliveries of the events of a watch to its destinations. */

const watchId = watchExamples.watch.watch_id;

const listWatchDeliveriesEndpoint = defineEndpoint(
  {
    id: 'list_watch_deliveries',
    tag: 'watches',
    scope: 'read',
    method: 'get',
    path: '/watches/{watch_id}/deliveries',
    title: "Read a watch's deliveries",
    description:
      'Returns the deliveries of the events of a watch to its destinations, with every attempt. A delivery is kept for a week.',
    effect: 'reads',
    request: { parameters: watchPathSchema, query: watchDeliveryListQuerySchema },
    response: jsonResponse(watchDeliveryPageSchema, { description: 'One page of deliveries' }),
    errors: ['WATCH_NOT_FOUND'],
    examples: { parameters: { watch_id: watchId }, response: { page: examples.watchDeliveryPage } },
  },
  ({ parameters, query, caller }, deps) => readWatchDeliveries(parameters.watch_id, caller, query, deps),
);

const resendWatchDeliveryEndpoint = defineEndpoint(
  {
    id: 'resend_watch_delivery',
    tag: 'watches',
    scope: 'jobs',
    method: 'post',
    path: '/watches/{watch_id}/deliveries/{sequence}/{destination_id}/resend',
    title: 'Send an event to a destination again',
    description:
      'Resends a delivery that was delivered or given up, with the same id. A success enables a destination that was disabled. Possible 60 s after the last attempt of an earlier resend.',
    effect: 'starts',
    rateLimit: 'calls',
    request: { parameters: watchDeliveryPathSchema },
    response: jsonResponse(watchResendResponseSchema, { description: 'It is queued' }),
    errors: ['BAD_REQUEST', 'WATCH_NOT_FOUND', 'NOT_FOUND'],
    examples: {
      parameters: { watch_id: watchId, sequence: 4, destination_id: 'team' },
      response: { queued: examples.watchResent },
    },
  },
  ({ parameters, caller }, deps) => {
    const { watch_id: id, sequence, destination_id: destinationId } = parameters;
    return resendWatchDelivery({ watchId: id, sequence, destinationId }, caller, deps);
  },
);

export const watchDeliveryEndpoints = [listWatchDeliveriesEndpoint, resendWatchDeliveryEndpoint];
