import { z } from 'zod';
import { apiNames } from '../api-names.ts';

/** Response of `GET /service`: what a caller can expect of this service. */
export const serviceResponseSchema = z.object({
  version: z
    .string()
    .describe('Version of the software; the version of the interface is in the OpenAPI document'),
  limits: z.object({
    max_job_seconds: z.int().describe('Maximum duration of a monitor, and of a digest without max_windows'),
    retention_seconds: z.int().describe('Time for which a finished job stays readable'),
    jobs_per_caller: z.int().describe('Maximum active jobs of a caller'),
  }),
  discovers_cameras: z.boolean().describe('True if GET /cameras asks the cameras of the network'),
  model: z.object({
    provider: z.string(),
    name: z.string(),
    supports_video: z.boolean().describe('True if input_mode can be clip or hybrid'),
    condition_examples: z.array(z.string()).describe('Conditions that this model judges well'),
  }),
});
apiNames.add(serviceResponseSchema, { id: 'Service' });
