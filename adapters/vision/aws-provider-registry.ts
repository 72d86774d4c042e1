import { z } from 'zod';
import type { ModelPrice } from './aws-provider.ts';
import * as list from './aws-provider-list.ts';

/** Providers by name. `aws-provider-list.ts` lists them; everything else is read from their descriptions. */
export const visionProviders = { ...list };

export type VisionProviderName = keyof typeof visionProviders;

type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** Provider of a stage without `visionProvider`. */
export const defaultVisionProvider: VisionProviderName = 'bedrock';

/** Environment variables of all providers. */
export const visionSettings = merge(Object.values(visionProviders).map(({ settings }) => settings));

export const visionStageSettings = merge(
  Object.values(visionProviders).map(({ stageSettings }) => stageSettings),
);

export const visionProviderSchema = z.custom<VisionProviderName>(isProviderName, {
  error: `must be one of ${Object.keys(visionProviders).join(', ')}`,
});

const freeOfCharge: ModelPrice = { input: 0, output: 0, pictureTokens: 0, videoTokensPerSecond: 0 };

/**
 * Returns the price of a model in use: built-in models and own servers cost nothing; `null` if the price of a
 * provider's model is not known.
 */
export function findModelPrice(named: { provider: string; model: string }): ModelPrice | null {
  // The built-in one of two models costs nothing.
  const [provider, model] = [withoutObjects(named.provider), withoutObjects(named.model)];
  if (!isProviderName(provider)) return freeOfCharge;
  return visionProviders[provider].findPrice(model) ?? null;
}

function withoutObjects(name: string): string {
  return name.replace(/^objects\+/, '');
}

function isProviderName(name: unknown): name is VisionProviderName {
  return typeof name === 'string' && Object.hasOwn(visionProviders, name);
}

function merge<Shape extends object>(shapes: readonly Shape[]): Intersection<Shape>;
function merge(shapes: readonly object[]): object {
  return shapes.reduce((merged, shape) => ({ ...merged, ...shape }), {});
}
