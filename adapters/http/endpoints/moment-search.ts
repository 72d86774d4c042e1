import { presentSearch } from '../../../core/memory/present-search.ts';
import { searchMoments } from '../../../core/memory/search-moments.ts';
import { momentSearchRequestSchema } from '../../../core/requests/moment-search.ts';
import { searchResponseSchema } from '../../../core/responses/moments.ts';
import * as examples from '../../openapi/examples/moments.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Search in the memory of watches. */

const searchEndpoint = defineEndpoint(
  {
    id: 'search_moments',
    tag: 'watches',
    scope: 'jobs',
    method: 'post',
    path: '/moments/search',
    title: 'Search moments',
    description:
      'Finds moments by words, lets the model look at the best pictures, and says what nobody saw. A response takes at most 25 s and has what was found; `next_cursor` continues. Model calls count in your usage.',
    effect: 'probes',
    rateLimit: 'calls',
    // Includes 25 s of the search, the call under way, and cold starts of two functions.
    timeBudgetSeconds: 40,
    maxBodyBytes: 64_000,
    request: { body: momentSearchRequestSchema },
    response: jsonResponse(searchResponseSchema, { description: 'The moments that were found' }),
    errors: ['BAD_REQUEST', 'WATCH_NOT_FOUND', 'VLM_ERROR'],
    examples: { body: { words: examples.search }, response: { found: examples.searchResult } },
  },
  async ({ body, caller, context }, deps) => {
    const { watch_ids: watchIds, max_calls: maxCalls, query, from, to, limit, thorough, cursor } = body;
    const input = { query, watchIds, from, to, limit, maxCalls, thorough, cursor };
    const result = await searchMoments(input, caller, deps, context.req.raw.signal);
    return presentSearch(result, maxCalls, deps);
  },
);

export const momentSearchEndpoints = [searchEndpoint];
