import type { z } from 'zod';
import { functionSettings, httpSettings } from '../../adapters/aws/function-settings.ts';

/** Environment variables of `api`. `MODEL_ID` is read only for the video support of the model. */
export const apiConfigSchema = functionSettings.pick(httpSettings);
export type ApiConfig = z.output<typeof apiConfigSchema>;
export type ApiEnvironment = z.input<typeof apiConfigSchema>;
