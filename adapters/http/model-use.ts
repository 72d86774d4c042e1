import type { Context } from 'hono';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { TokenUse } from '../../core/vision.ts';

/** The contract fixes the body of a look, so what it cost the model is told in headers. */
export function tellModelUse(
  context: Context,
  { provider, model }: Pick<VisionModel, 'provider' | 'model'>,
  tokens: TokenUse,
): void {
  context.header('Watchpost-Model-Provider', provider);
  // A setting, and so any text; a header takes printable ASCII.
  context.header('Watchpost-Model', model.replaceAll(/[^\x20-\x7e]/g, '?'));
  context.header('Watchpost-Input-Tokens', `${tokens.input_tokens}`);
  context.header('Watchpost-Output-Tokens', `${tokens.output_tokens}`);
}
