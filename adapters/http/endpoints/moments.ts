import {
  listMoments,
  readMomentPicture,
  requireOwnMoment,
  reviewOwnMoment,
} from '../../../core/memory/list-moments.ts';
import { presentMoment, presentSearch } from '../../../core/memory/present-search.ts';
import {
  momentListQuerySchema,
  momentPathSchema,
  momentReviewRequestSchema,
  readMomentPosition,
  readVerdict,
  askRequestSchema,
  backtestRequestSchema,
  momentSearchRequestSchema,
} from '../../../core/requests/moments.ts';
import {
  momentListResponseSchema,
  momentResponseSchema,
  askResponseSchema,
  backtestResponseSchema,
  searchResponseSchema,
} from '../../../core/responses/moments.ts';
import * as examples from '../../openapi/examples/moments.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nameKey } from './alerts.ts';
import { jpegResponse, jsonResponse } from '../endpoint-response.ts';
import { watchPathSchema } from '../../../core/requests/watch-queries.ts';
import { nameConditions } from '../../../core/watch/watch-config.ts';

/** Memory of the watches of a caller. */

const shared = { tag: 'watches', scope: 'read', method: 'get', effect: 'reads' } as const;
const momentExample = { moment_id: examples.moment.moment_id };

const listMomentsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_moments',
    path: '/moments',
    title: 'List moments',
    description:
      'Returns the judged pictures that your watches remember, newest first, and how much of the span was seen. They are kept for `memory_days` of their watch.',
    request: { query: momentListQuerySchema },
    response: jsonResponse(momentListResponseSchema, { description: 'One page of moments' }),
    errors: ['BAD_REQUEST', 'WATCH_NOT_FOUND'],
    examples: { response: { moments: examples.momentList } },
  },
  async ({ query, caller }, deps) => {
    const { watch_id: watchId, condition_id: conditionId, verdict, after, ...rest } = query;
    const position = after === undefined ? undefined : readMomentPosition(after);
    const input = { ...rest, watchId, conditionId, triggered: readVerdict(verdict), after: position };
    return listMoments({ ...input, from: rest.from, to: rest.to }, caller, deps);
  },
);

const getMomentEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'get_moment',
    path: '/moments/{moment_id}',
    title: 'Read a moment',
    description: 'Returns a judged picture with its verdicts and what it shows.',
    request: { parameters: momentPathSchema },
    response: jsonResponse(momentResponseSchema, { description: 'The moment' }),
    errors: ['NOT_FOUND'],
    examples: { parameters: momentExample, response: { moment: examples.moment } },
  },
  async ({ parameters, caller }, deps) =>
    presentMoment(await requireOwnMoment(parameters.moment_id, caller, deps), deps),
);

const reviewMomentEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'review_moment',
    scope: 'jobs',
    method: 'post',
    effect: 'changes',
    path: '/moments/{moment_id}/review',
    title: 'Review a moment',
    description:
      'Stores whether a condition of the watch holds in the picture. One that holds without an open alert was missed: misses give the recall in the statistics. Reviews change no state, and go with their moment.',
    request: { parameters: momentPathSchema, body: momentReviewRequestSchema },
    response: jsonResponse(momentResponseSchema, { description: 'The reviewed moment' }),
    errors: ['NOT_FOUND', 'BAD_REQUEST'],
    examples: {
      parameters: momentExample,
      body: { missed: { condition_id: 'person', holds: true } },
      response: { moment: examples.reviewedMoment },
    },
  },
  async ({ parameters, body, caller, key }, deps) => {
    const { condition_id: conditionId, holds } = body;
    const review = { conditionId, holds };
    return presentMoment(
      await reviewOwnMoment(parameters.moment_id, review, caller, nameKey(key), deps),
      deps,
    );
  },
);

const momentPictureEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'moment_picture',
    path: '/moments/{moment_id}/picture',
    title: "Get a moment's picture",
    description: 'Returns the frame that the model judged.',
    request: { parameters: momentPathSchema },
    response: jpegResponse({ description: 'The picture', cacheControl: 'private, max-age=3600' }),
    errors: ['NOT_FOUND'],
    examples: { parameters: momentExample },
  },
  ({ parameters, caller }, deps) => readMomentPicture(parameters.moment_id, caller, deps),
);

export const momentEndpoints = [
  listMomentsEndpoint,
  getMomentEndpoint,
  reviewMomentEndpoint,
  momentPictureEndpoint,
];

/** Searches, questions and conditions over the memory of watches. A cold start needs none of them. */

const search = {
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
    ...search,
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
    ...search,
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
    ...search,
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
