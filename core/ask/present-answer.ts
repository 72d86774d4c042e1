import type { z } from 'zod';
import { presentMoment, toUsd } from '../memory/present-search.ts';
import type { askResponseSchema } from '../responses/ask.ts';
import type { AskResult } from './ask-moments.ts';

export function presentAnswer(
  { statements, reason, pictures, counts, sentence, from, to, listedFrom }: AskResult,
  base: { baseUrl: string },
): z.input<typeof askResponseSchema> {
  return {
    answered: reason === null,
    answer: reason ?? statements.map(({ text }) => text).join(' '),
    statements: statements.map(({ text, moments }) => ({
      text,
      moments: moments.map((moment) => presentMoment(moment, base)),
    })),
    next_to: listedFrom?.toISOString() ?? null,
    sentence,
    from: from.toISOString(),
    to: to.toISOString(),
    pictures,
    model_calls: counts.calls,
    cost_usd: toUsd(counts.micro_usd),
  };
}
