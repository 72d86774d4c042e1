import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { count } from './fields.ts';

const amounts = {
  model_calls: count,
  model_errors: count.describe(
    'Model calls without a usable result; they cost the tokens that the model stated, else nothing',
  ),
  input_tokens: count,
  output_tokens: count,
  cost_usd: z
    .number()
    .nonnegative()
    .nullable()
    .describe('List price of the tokens, in US dollars; null if the price of the model is unknown'),
};

/** Response of `GET /usage`. */
export const usageResponseSchema = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  callers: z
    .array(
      z.object({
        caller: z.string(),
        ...amounts,
        days: z
          .array(z.object({ day: z.iso.date(), ...amounts }))
          .describe('Days with model calls, oldest first'),
      }),
    )
    .describe('Ordered by name'),
  next_after: z.string().nullable().describe('Value of after for the next page; null on the last page'),
});
apiNames.add(usageResponseSchema, { id: 'Usage' });
