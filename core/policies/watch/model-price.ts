import { addUse, noUse, type CallerUse } from '../../records/caller-use.ts';
import type { ModelCall, TokenUse } from '../../records/vision.ts';

/** List price of a model, in US dollars per token. Local models cost 0. */
export type TokenPrice = { input: number; output: number };

/**
 * Maximum tokens of one call: a ten-second clip with a frame and eight conditions of a thousand characters, and the
 * question what is visible; the answers.
 */
const worstCase: TokenUse = { input_tokens: 16_040, output_tokens: 1_240 };

/**
 * Returns what calls count everywhere: in the use of their caller, the statistics of a watch and its budget. A failed
 * one costs the tokens that it states.
 */
export function sumCalls(price: TokenPrice | null, calls: readonly ModelCall[]): CallerUse {
  return calls
    .map(({ input_tokens, output_tokens, failed = false }) => ({
      model_calls: 1,
      model_errors: failed ? 1 : 0,
      input_tokens,
      output_tokens,
      micro_usd: priceTokens(price, { input_tokens, output_tokens }),
      unpriced_calls: price === null && (!failed || input_tokens > 0) ? 1 : 0,
    }))
    .reduce(addUse, noUse);
}

/** Returns the maximum price of one call about a frame or clip, in millionths of a dollar. */
export function priceWorstCase(price: TokenPrice | null): number {
  return priceTokens(price, worstCase);
}

function priceTokens(price: TokenPrice | null, { input_tokens: input, output_tokens: output }: TokenUse) {
  return price === null ? 0 : Math.ceil((input * price.input + output * price.output) * 1_000_000);
}
