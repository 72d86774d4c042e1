import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);

/** The environment of the function: the only one that may ask the model. It decodes no picture; `capture` makes its contact sheets. */
export const analyzeConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  QUEUE_URL: z.url(),
  STATE_MACHINE_ARN: name,
  CAPTURE_FUNCTION: name,
  /** A model's id, an inference profile's id, or the ARN of either. Without one: the cheapest of the region that takes video. */
  MODEL_ID: name.optional(),
  /** Where the model is asked; without one the function's own region. */
  BEDROCK_REGION: name.optional(),
  /** Another address than Bedrock's own, for tests. */
  BEDROCK_ENDPOINT: z.url().optional(),
  RETENTION_SECONDS: count.prefault('3600'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** The deployment's name: what logs, metrics and traces are told apart by. Read by Powertools too. */
  POWERTOOLS_SERVICE_NAME: name,
});
export type AnalyzeConfig = z.output<typeof analyzeConfigSchema>;
export type AnalyzeEnvironment = z.input<typeof analyzeConfigSchema>;
