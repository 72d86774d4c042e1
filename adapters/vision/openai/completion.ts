import { z } from 'zod';

/** The part of a chat completion that is read. Servers leave out or null what they do not count. */
export const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
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
export type Completion = z.infer<typeof completionSchema>;
