import { z } from 'zod';
import { timestamp } from '../../core/responses/fields.ts';
import { loggedEventSchema } from '../../core/responses/events.ts';
import { watchEventResponseSchema } from '../../core/responses/watch-events.ts';

/**
 * Schemas of the events on the event bus, by type, which is also their `detail-type`: those of the logs with the fields
 * that tell callers and deployments apart. Images are links.
 */

const shared = {
  id: z.string().describe('Id of the event, as webhook-id; the same in repetitions'),
  caller: z.string().describe('Owner of the job or watch'),
  deployment: z.string().describe('Name of the stack'),
};

const testSchema = z.object({
  type: z.literal('test'),
  timestamp,
  source_url: z.string().describe('Stream URL with masked password'),
  data: z.object({
    watch_id: z.uuid(),
    watch_name: z.string(),
    labels: z.array(z.string()),
    message: z.string(),
  }),
});

const events = [...loggedEventSchema.options, ...watchEventResponseSchema.options, testSchema];

/** Schema of each type. `progress` stays in the logs. */
export const busEventSchemas = events
  .map((schema) => ({ type: schema.shape.type.value, schema: z.object({ ...shared, ...schema.shape }) }))
  .filter(({ type }) => type !== 'progress');
