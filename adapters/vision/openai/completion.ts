import { z } from 'zod';

/** Used part of a chat completion. Servers omit or null values that they do not count. */
export const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        // `length` if the tokens of the answer or the context were used up (platform.openai.com/docs/api-reference/chat/object,
        // github.com/ollama/ollama/pull/5312; vLLM and llama.cpp copy it).
        finish_reason: z.string().nullish(),
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
