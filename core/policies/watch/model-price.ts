import type { TokenUse } from '../../records/vision.ts';

/** List price of a model, in US dollars per token. Local models cost 0. */
export type TokenPrice = { input: number; output: number };

/** Maximum tokens of one call: a ten-second clip with a frame and eight conditions of a thousand characters; the answer about them. */
const worstCase: TokenUse = { input_tokens: 16_000, output_tokens: 1_200 };

/** Returns the price of one call in millionths of a dollar; of a call with unknown tokens the worst case. */
export function priceCall(price: TokenPrice | null, tokens: TokenUse | null): number {
  if (price === null) return 0;
  const { input_tokens: input, output_tokens: output } = tokens ?? worstCase;
  return Math.ceil((input * price.input + output * price.output) * 1_000_000);
}
