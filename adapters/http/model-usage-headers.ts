import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { TokenUse } from '../../core/records/vision.ts';

/** The contract fixes the body of a look, so what it cost the model is told in headers. */
export function setModelUsageHeaders(
  setHeader: (name: string, value: string) => void,
  { provider, model }: Pick<VisionModel, 'provider' | 'model'>,
  tokens: TokenUse,
): void {
  setHeader('Watchpost-Model-Provider', provider);
  // A setting, and so any text; a header takes printable ASCII.
  setHeader('Watchpost-Model', model.replaceAll(/[^\x20-\x7e]/g, '?'));
  setHeader('Watchpost-Input-Tokens', `${tokens.input_tokens}`);
  setHeader('Watchpost-Output-Tokens', `${tokens.output_tokens}`);
}
