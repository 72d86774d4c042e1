import { z } from 'zod';

const amount = z.int().nonnegative();

/** Model calls of a caller, their tokens and their price in millionths of a US dollar. */
export const callerUseSchema = z.object({
  model_calls: amount,
  /** Calls without a usable result. */
  model_errors: amount,
  input_tokens: amount,
  output_tokens: amount,
  micro_usd: amount,
  /** Calls of a model whose price is unknown; `micro_usd` lacks them. */
  unpriced_calls: amount,
});
export type CallerUse = z.infer<typeof callerUseSchema>;

export const amountsOfUse = callerUseSchema.keyof().options;

export const noUse: CallerUse = {
  model_calls: 0,
  model_errors: 0,
  input_tokens: 0,
  output_tokens: 0,
  micro_usd: 0,
  unpriced_calls: 0,
};

/** Returns the sum of two uses. */
export function addUse(one: CallerUse, other: CallerUse): CallerUse {
  const sum = { ...one };
  for (const name of amountsOfUse) sum[name] += other[name];
  return sum;
}
