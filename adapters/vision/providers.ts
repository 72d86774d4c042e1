import { z } from 'zod';
import { createBedrockFromSettings } from './bedrock/create-from-settings.ts';
import { bedrockProvider, bedrockSettings, bedrockStageSettings } from './bedrock/provider.ts';

// Providers of vision models for a deployment on AWS; `cli/vision-model.ts` lists those of one machine. A further one is a folder, and its entries here.

/** Descriptions of the providers by name: capabilities, settings and permissions of their models. */
export const visionProviders = { bedrock: bedrockProvider };

/** Functions that create a model. Only `analyze` uses them, so other bundles have no client of a provider. */
export const visionFactories = { bedrock: createBedrockFromSettings };

/** Environment variables of all providers. */
export const visionSettings = { ...bedrockSettings };

/** Settings of a stage of all providers. */
export const visionStageSettings = { ...bedrockStageSettings };

/** Name of a provider. */
export type VisionProviderName = keyof typeof visionProviders;

/** Schema of the name of a provider. */
export const visionProviderSchema = z.custom<VisionProviderName>(
  (name) => typeof name === 'string' && Object.hasOwn(visionProviders, name),
  { error: `must be one of ${Object.keys(visionProviders).join(', ')}` },
);
