import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { count, timestamp } from './fields.ts';
import { momentResponseSchema, searchResponseSchema } from './moments.ts';

export const askResponseSchema = z.object({
  answered: z.boolean().describe('False if the memory does not answer the question'),
  answer: z.string().describe('The statements, or the reason without any'),
  statements: z.array(
    z.object({
      text: z.string(),
      moments: z.array(momentResponseSchema).describe('Moments that show it'),
    }),
  ),
  next_to: timestamp
    .nullable()
    .describe('Value of to that lists the visits before those of the statements; null if it has all'),
  sentence: z.string().describe('The pictures that were searched, and the gaps of the span'),
  from: timestamp,
  to: timestamp,
  pictures: count.describe('Pictures that the model was shown'),
  ...searchResponseSchema.pick({ model_calls: true, cost_usd: true }).shape,
});
apiNames.add(askResponseSchema, { id: 'AskResult' });
