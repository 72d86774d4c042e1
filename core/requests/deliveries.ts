import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { deliveryStateSchema } from '../records/delivery.ts';
import { integer, webhookEvents, webhookUrl } from './fields.ts';
import { jobPathSchema } from './jobs.ts';
import { watchPathSchema } from './watch-queries.ts';

/** Query of `GET /jobs/{job_id}/deliveries`. */
export const deliveryListQuerySchema = z.object({
  state: deliveryStateSchema.optional(),
  after: integer(z.int().min(0)).default(0).describe('Sequence after which the page begins'),
  limit: integer(z.int().min(1).max(1000)).default(100),
});
export type DeliveryListQuery = z.infer<typeof deliveryListQuerySchema>;

export const deliveryPathSchema = jobPathSchema.extend({ sequence: integer(z.int().min(1)) });

const destinationId = z.string().min(1).max(40).describe('Id of the destination');

export const watchDeliveryListQuerySchema = deliveryListQuerySchema.extend({
  destination_id: destinationId.optional(),
});
export type WatchDeliveryListQuery = z.infer<typeof watchDeliveryListQuerySchema>;

export const watchDeliveryPathSchema = watchPathSchema.extend({
  sequence: integer(z.int().min(1)),
  destination_id: destinationId,
});

export const webhookTestRequestSchema = z.object({ webhook_url: webhookUrl });
apiNames.add(webhookTestRequestSchema, { id: 'WebhookTestRequest' });

/** Body of `PUT /webhook-defaults`. It has no URL: the request of a job decides its delivery mode. */
export const webhookDefaultsRequestSchema = z.object({
  webhook_events: webhookEvents.nullable().describe('Filter of jobs without webhook_events; null: all types'),
});
apiNames.add(webhookDefaultsRequestSchema, { id: 'WebhookDefaultsRequest' });
export type WebhookDefaultsRequest = z.infer<typeof webhookDefaultsRequestSchema>;
