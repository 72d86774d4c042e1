import type { TokenUse } from '../../records/vision.ts';

/** List price of a model, in US dollars per token. Local models cost 0. */
export type TokenPrice = { input: number; output: number };

/** Maximum tokens of one call: a ten-second clip with a frame and eight conditions of a thousand characters; the answer about them. */
const worstCase: TokenUse = { input_tokens: 16_000, output_tokens: 1_200 };
/** Maximum tokens of a further frame in a call: the frame, and its verdicts on eight conditions. */
const worstCaseOfFrame: TokenUse = { input_tokens: 1_700, output_tokens: 960 };

/** Returns the price of one call in millionths of a dollar; of a call with unknown tokens the worst case for its frames. */
export function priceCall(price: TokenPrice | null, tokens: TokenUse | null, frames = 1): number {
  if (price === null) return 0;
  const { input_tokens: input, output_tokens: output } = tokens ?? computeWorstCase(frames - 1);
  return Math.ceil((input * price.input + output * price.output) * 1_000_000);
}

function computeWorstCase(further: number): TokenUse {
  return {
    input_tokens: worstCase.input_tokens + further * worstCaseOfFrame.input_tokens,
    output_tokens: worstCase.output_tokens + further * worstCaseOfFrame.output_tokens,
  };
}
