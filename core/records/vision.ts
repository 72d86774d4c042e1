import { z } from 'zod';

export const tokenUseSchema = z.object({
  input_tokens: z.int().nonnegative(),
  output_tokens: z.int().nonnegative(),
});
export type TokenUse = z.infer<typeof tokenUseSchema>;

/** The model's answer for a tick. The decision comes first, so that a cut-off answer still has it. */
export const verdictSchema = z.object({
  triggered: z.boolean(),
  /** Tied to what is visible; 1 to 600 characters. */
  explanation: z.string().min(1).max(600),
  tokens: tokenUseSchema,
});
export type Verdict = z.infer<typeof verdictSchema>;

/** The model's answer to a question about one picture; `triggered` is null where the question is open. */
export type Answer = { answer: string; triggered: boolean | null; tokens: TokenUse };

/** The model's account of a digest window. */
export type Summary = { summary: string; tokens: TokenUse };
