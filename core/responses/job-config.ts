import { z } from 'zod';
import { apiNames, toPascal } from '../api-names.ts';
import { webhookEventTypeSchema } from '../records/delivery.ts';
import { jobRecords } from '../policies/records.ts';
import { stopReasonSchema } from '../records/stop-reason.ts';

const visible = {
  webhook_url: z.string().optional().describe('Webhook URL with masked password'),
  webhook_events: z
    .array(webhookEventTypeSchema)
    .optional()
    .describe('Types of events that the webhook receives; absent: all'),
  labels: z.array(z.string()).optional().describe('Labels of the job; absent without any'),
};

const delivered = z.object({
  delivery: z.enum(['polling', 'webhook']).describe('Delivery mode of events'),
  reason: stopReasonSchema.nullable().describe("Reason of the job's end; null for an active job"),
});

/**
 * Configuration of the jobs of each policy, after defaults and clamping; `details` in lists and creation responses,
 * which have no stats.
 */
export const configSchemas = Object.values(jobRecords).map(({ fields }) => {
  const config = z.object({ ...fields.config.shape, ...visible });
  return { policy: fields.policy.value, config, details: config.and(delivered) };
});
for (const { policy, config, details } of configSchemas) {
  apiNames.add(config, { id: `${toPascal(policy)}Config` });
  apiNames.add(details, { id: `${toPascal(policy)}Details` });
}
export const jobConfigSchema = z.union(configSchemas.map(({ config }) => config));
apiNames.add(jobConfigSchema, { id: 'JobConfig' });
export const jobDetailsSchema = z.union(configSchemas.map(({ details }) => details));
apiNames.add(jobDetailsSchema, { id: 'JobDetails' });

/** Differences between the request and the job. */
export const noticesSchema = z
  .array(z.string())
  .describe(
    'Differences between the request and the job: limits, ignored fields, conditions that fit no check',
  );
