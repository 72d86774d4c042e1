import { z } from 'zod';

/** Used part of a chat completion. Servers omit or null values that they do not count. */
export const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          // Thoughts of a thinking model: Ollama, vLLM and OpenRouter; llama.cpp and older vLLM.
          reasoning: z.string().nullish(),
          reasoning_content: z.string().nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: z.int().nonnegative().nullish(),
      completion_tokens: z.int().nonnegative().nullish(),
    })
    .nullish(),
});
/** Used part of a chat completion. */
export type Completion = z.infer<typeof completionSchema>;
