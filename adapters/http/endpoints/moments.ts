import {
  listMoments,
  readMomentPicture,
  requireOwnMoment,
  reviewOwnMoment,
} from '../../../core/memory/list-moments.ts';
import { presentMoment } from '../../../core/memory/present-search.ts';
import {
  momentListQuerySchema,
  momentPathSchema,
  momentReviewRequestSchema,
  readMomentPosition,
  readVerdict,
} from '../../../core/requests/moments.ts';
import { momentListResponseSchema, momentResponseSchema } from '../../../core/responses/moments.ts';
import * as examples from '../../openapi/examples/moments.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nameKey } from './alerts.ts';
import { jpegResponse, jsonResponse } from '../endpoint-response.ts';

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
