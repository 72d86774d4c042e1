import type { VisionModel } from '../../core/ports/vision-model.ts';
import { findModelPrice } from '../../adapters/vision/aws-provider-registry.ts';
import { readSettings, type Settings } from '../settings.ts';
import { createVisionModel } from '../service/vision-model.ts';

/** Model of `--model`: `PROVIDER` or `PROVIDER:MODEL`. */
export type ModelChoice = { name: string; vision: VisionModel };

/** Creates the model of a choice, such as `objects` or `openai:llava`; other settings stay. Throws `SettingsError`. */
export function createChosenModel(choice: string, settings: Settings, ffmpegPath: string): ModelChoice {
  const colon = choice.indexOf(':');
  const provider = colon < 0 ? choice : choice.slice(0, colon);
  const visionModel = colon < 0 ? settings.visionModel : choice.slice(colon + 1);
  const { vision } = readSettings({ vision: provider }, {});
  const model = createVisionModel({ ...settings, vision, visionModel }, ffmpegPath);
  return {
    // `auto` is named by the model that it chooses.
    name: model.provider === model.model ? model.provider : `${model.provider}:${model.model}`,
    vision: model,
  };
}

/** Returns the price of tokens in USD; 0 for a local model, `null` if the price of the model is not known. */
export function priceTokens(
  vision: Pick<VisionModel, 'provider' | 'model'>,
  tokens: { input_tokens: number; output_tokens: number },
): number | null {
  const price = findModelPrice(vision);
  return price && tokens.input_tokens * price.input + tokens.output_tokens * price.output;
}
