import { askMoments } from '../../../core/ask/ask-moments.ts';
import { presentMoment, toUsd } from '../../../core/memory/present-search.ts';
import { askRequestSchema } from '../../../core/requests/ask.ts';
import { askResponseSchema } from '../../../core/responses/ask.ts';
import * as examples from '../../openapi/examples/moments.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Questions about the memory of watches. */

const askEndpoint = defineEndpoint(
  {
    id: 'ask_moments',
    tag: 'watches',
    scope: 'jobs',
    method: 'post',
    path: '/moments/ask',
    title: 'Ask about the past',
    description:
      'Answers a question by what your watches remember: at most 24 pictures in one model call, or visits without a call by the built-in model. Each statement has the moments that show it. `sentence` says what nobody saw.',
    effect: 'probes',
    rateLimit: 'calls',
    // Includes 25 s of the question, and cold starts of two functions.
    timeBudgetSeconds: 40,
    maxBodyBytes: 64_000,
    request: { body: askRequestSchema },
    response: jsonResponse(askResponseSchema, { description: 'The answer' }),
    errors: ['BAD_REQUEST', 'WATCH_NOT_FOUND', 'VLM_ERROR'],
    examples: { body: { delivery: examples.ask }, response: { answered: examples.askResult } },
  },
  async ({ body: { question, watch_ids: watchIds, from, to }, caller, context }, deps) => {
    const { signal } = context.req.raw;
    const result = await askMoments({ question, watchIds, from, to }, caller, deps, signal);
    const { statements, reason, pictures, counts, sentence } = result;
    return {
      answered: reason === null,
      answer: reason ?? statements.map(({ text }) => text).join(' '),
      statements: statements.map(({ text, moments }) => ({
        text,
        moments: moments.map((moment) => presentMoment(moment, deps)),
      })),
      sentence,
      from: result.from.toISOString(),
      to: result.to.toISOString(),
      pictures,
      model_calls: counts.calls,
      cost_usd: toUsd(counts.micro_usd),
    };
  },
);

export const askEndpoints = [askEndpoint];
