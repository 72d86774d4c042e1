import type { z } from 'zod';
import { functionSettings, sharedSettings } from '../../adapters/aws/function-settings.ts';
import { visionSettings } from '../../adapters/vision/providers.ts';

/** Environment variables of `analyze`, the only function that may call the model. `capture` creates its contact sheets. */
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
    VISION_PROVIDER: true,
    MODEL_ID: true,
    VISION_PROMPT: true,
    VISION_WIDTH: true,
    RETENTION_SECONDS: true,
  })
  .extend(visionSettings);
/** Parsed environment. */
export type AnalyzeConfig = z.output<typeof analyzeConfigSchema>;
/** Environment variables as the stack sets them. */
export type AnalyzeEnvironment = z.input<typeof analyzeConfigSchema>;
