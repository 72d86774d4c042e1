import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);

/** Environment variables of `analyze`, the only function that may call the model. `capture` creates its contact sheets. */
export const analyzeConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  QUEUE_URL: z.url(),
  STATE_MACHINE_ARN: name,
  CAPTURE_FUNCTION: name,
  /** Id or ARN of a model or inference profile. Default: the cheapest model of the region that supports video. */
  MODEL_ID: name.optional(),
  /** Region of the model. Default: the region of the function. */
  BEDROCK_REGION: name.optional(),
  /** Address that replaces the one of Bedrock, for tests. */
  BEDROCK_ENDPOINT: z.url().optional(),
  /** Retention of an ended job, in seconds. */
  RETENTION_SECONDS: count.prefault('3600'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** Stack name, which identifies logs, metrics and traces. Powertools reads it too. */
  POWERTOOLS_SERVICE_NAME: name,
});
/** Parsed environment. */
export type AnalyzeConfig = z.output<typeof analyzeConfigSchema>;
/** Environment variables as the stack sets them. */
export type AnalyzeEnvironment = z.input<typeof analyzeConfigSchema>;
