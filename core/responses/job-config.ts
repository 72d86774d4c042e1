import { z } from 'zod';
import { digestConfigSchema, monitorConfigSchema, stopReasonSchema } from '../records/job.ts';

/** What a job was asked for, after defaults and clamping. */

const visible = {
  webhook_url: z.string().optional().describe('Where events are sent; a password in it is masked'),
};

const delivered = {
  delivery: z.enum(['polling', 'webhook']).describe('How events reach the caller'),
  reason: stopReasonSchema.nullable().describe('Why the job ended; null while it is active'),
};

const monitorSchema = monitorConfigSchema.extend(visible);
const digestSchema = digestConfigSchema.extend(visible);

export const jobConfigSchema = z.union([monitorSchema, digestSchema]);

/** In lists and answers to creations, which have no stats. */
export const jobDetailsSchema = z.union([monitorSchema.extend(delivered), digestSchema.extend(delivered)]);
