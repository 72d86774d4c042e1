import { presentSearch } from '../../../core/memory/present-search.ts';
import {
  askRequestSchema,
  backtestRequestSchema,
  momentSearchRequestSchema,
} from '../../../core/requests/moments.ts';
import { watchPathSchema } from '../../../core/requests/watch-queries.ts';
import {
  askResponseSchema,
  backtestResponseSchema,
  searchResponseSchema,
} from '../../../core/responses/moments.ts';
import { nameConditions } from '../../../core/watch/watch-config.ts';
import * as examples from '../../openapi/examples/moments.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Searches, questions and conditions over the memory of watches. A cold start needs none of them. */

const shared = {
  tag: 'watches',
  scope: 'jobs',
  method: 'post',
  effect: 'probes',
  rateLimit: 'calls',
  // Includes 25 s of the search, the call under way, and cold starts of two functions.
  timeBudgetSeconds: 40,
  errors: ['BAD_REQUEST', 'WATCH_NOT_FOUND', 'VLM_ERROR'],
} as const;

const searchEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'search_moments',
    path: '/moments/search',
    title: 'Search moments',
    description:
      'Finds moments by words, lets the model look at the best pictures, and says what nobody saw. A response takes at most 25 s and has what was found; `next_cursor` continues. Model calls count in your usage.',
    maxBodyBytes: 64_000,
    request: { body: momentSearchRequestSchema },
    response: jsonResponse(searchResponseSchema, { description: 'The moments that were found' }),
    examples: { body: { words: examples.search }, response: { found: examples.searchResult } },
  },
  async ({ body, caller, context }, deps) => {
    const { watch_ids: watchIds, max_calls: maxCalls, query, from, to, limit, thorough, cursor } = body;
    const input = { query, watchIds, from, to, limit, maxCalls, thorough, cursor };
    const { searchMoments } = await import('../../../core/memory/search-moments.ts');
    const result = await searchMoments(input, caller, deps, context.req.raw.signal);
    return presentSearch(result, maxCalls, deps);
  },
);

const askEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'ask_moments',
    path: '/moments/ask',
    title: 'Ask about the past',
    description:
      'Answers a question by what your watches remember: at most 24 pictures in one model call, or visits without a call by the built-in model. Each statement has the moments that show it. `sentence` says what nobody saw.',
    maxBodyBytes: 64_000,
    request: { body: askRequestSchema },
    response: jsonResponse(askResponseSchema, { description: 'The answer' }),
    examples: { body: { delivery: examples.ask }, response: { answered: examples.askResult } },
  },
  async ({ body: { question, watch_ids: watchIds, from, to }, caller, context }, deps) => {
    const { askMoments, presentAnswer } = await import('../../../core/ask/ask-moments.ts');
    const input = { question, watchIds, from, to };
    return presentAnswer(await askMoments(input, caller, deps, context.req.raw.signal), deps);
  },
);

const backtestEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'backtest_watch',
    path: '/watches/{watch_id}/backtest',
    title: 'Try conditions on the past',
    description:
      'Returns the alerts that conditions would have opened over the moments that a watch remembers. Verdicts of its own conditions are known; others cost model calls: `estimate` first. A response takes at most 25 s; `next_cursor` continues. Nothing is changed or delivered.',
    maxBodyBytes: 256_000,
    request: { parameters: watchPathSchema, body: backtestRequestSchema },
    response: jsonResponse(backtestResponseSchema, { description: 'The alerts that would have opened' }),
    examples: {
      parameters: { watch_id: examples.moment.watch_id },
      body: { van: examples.backtest },
      response: { played: examples.backtestResult },
    },
  },
  async ({ parameters, body, caller, context }, deps) => {
    const { conditions, max_calls: maxCalls, from, to, cursor, estimate } = body;
    const input = {
      watchId: parameters.watch_id,
      conditions: conditions && nameConditions(conditions),
      from,
      to,
      maxCalls,
      cursor,
      estimate,
    };
    const { backtestWatch, presentBacktest } = await import('../../../core/backtest/backtest-watch.ts');
    return presentBacktest(await backtestWatch(input, caller, deps, context.req.raw.signal), caller, deps);
  },
);

export const momentSearchEndpoints = [searchEndpoint];
export const momentQuestionEndpoints = [askEndpoint, backtestEndpoint];
