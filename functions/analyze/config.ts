import { z } from 'zod';
import { functionSettings, sharedSettings } from '../../adapters/aws/function-settings.ts';
import { promptNames } from '../../adapters/vision/prompt-variants.ts';
import {
  defaultVisionProvider,
  visionProviderSchema,
  visionSettings,
} from '../../adapters/vision/aws-provider-registry.ts';

/**
 * Environment variables of `analyze`, the only function that may call the model. `capture` creates its contact sheets.
 */
export const analyzeConfigSchema = functionSettings
  .pick({
    ...sharedSettings,
    TABLE_NAME: true,
    MEDIA_BUCKET: true,
    QUEUE_URL: true,
    EVENT_BUS: true,
    STATE_MACHINE_ARN: true,
    OTHER_STATE_MACHINE_ARN: true,
    CAPTURE_FUNCTION: true,
    RETENTION_SECONDS: true,
  })
  .extend({
    /** Id or ARN of a model or inference profile. Default: that of the provider for the region. */
    MODEL_ID: z.string().min(1).optional(),
    /** Provider of the model. */
    VISION_PROVIDER: visionProviderSchema.prefault(defaultVisionProvider),
    /** Prompt of checks. */
    VISION_PROMPT: z.enum(promptNames).prefault('verdict-first'),
    /** Maximum width of the frames that the model receives for checks, in pixels. */
    VISION_WIDTH: z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).prefault('896'),
    ...visionSettings,
  });
export type AnalyzeConfig = z.output<typeof analyzeConfigSchema>;
export type AnalyzeEnvironment = z.input<typeof analyzeConfigSchema>;
