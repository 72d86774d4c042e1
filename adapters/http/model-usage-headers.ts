import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { EvidenceBox, Verdict } from '../../core/records/vision.ts';
import { toHeaderText } from './endpoint-response.ts';

export const modelUsageHeaders = [
  'Watchpost-Model-Provider',
  'Watchpost-Model',
  'Watchpost-Model-Milliseconds',
  'Watchpost-Input-Tokens',
  'Watchpost-Output-Tokens',
  'Watchpost-Prompt-Version',
  'Watchpost-Boxes',
] as const;

/** Sets model and token usage as response headers, because the contract fixes the body of `check-once`. */
export function setModelUsageHeaders(
  setHeader: (name: string, value: string) => void,
  { provider, model }: Pick<VisionModel, 'provider' | 'model'>,
  { tokens, prompt_version: promptVersion }: Pick<Verdict, 'tokens' | 'prompt_version'>,
  modelMs: number,
): void {
  setHeader('Watchpost-Model-Provider', provider);
  // The model id is a setting and can hold any character.
  setHeader('Watchpost-Model', toHeaderText(model));
  setHeader('Watchpost-Model-Milliseconds', `${modelMs}`);
  setHeader('Watchpost-Input-Tokens', `${tokens.input_tokens}`);
  setHeader('Watchpost-Output-Tokens', `${tokens.output_tokens}`);
  if (promptVersion !== undefined) setHeader('Watchpost-Prompt-Version', promptVersion);
}

/** Sets the boxes of a verdict as a response header, as JSON in ASCII; none without boxes. */
export function setBoxesHeader(
  setHeader: (name: string, value: string) => void,
  boxes: readonly EvidenceBox[] = [],
): void {
  if (boxes.length > 0) setHeader('Watchpost-Boxes', JSON.stringify(boxes));
}
