import { presentBacktest } from '../../../core/backtest/present-backtest.ts';
import { backtestRequestSchema } from '../../../core/requests/backtest.ts';
import { watchPathSchema } from '../../../core/requests/watch-queries.ts';
import { backtestResponseSchema } from '../../../core/responses/backtest.ts';
import { nameConditions } from '../../../core/watch/watch-config.ts';
import * as examples from '../../openapi/examples/moments.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Conditions over the memory of a watch. */

const backtestEndpoint = defineEndpoint(
  {
    id: 'backtest_watch',
    tag: 'watches',
    scope: 'jobs',
    method: 'post',
    path: '/watches/{watch_id}/backtest',
    title: 'Try conditions on the past',
    description:
      'Returns the alerts that conditions would have opened over the moments that a watch remembers. Verdicts of its own conditions are known; others cost model calls: `estimate` first. A response takes at most 25 s; `next_cursor` continues. Nothing is changed or delivered.',
    effect: 'probes',
    rateLimit: 'calls',
    // Includes 25 s of the backtest, the call under way, and cold starts of two functions.
    timeBudgetSeconds: 40,
    maxBodyBytes: 256_000,
    request: { parameters: watchPathSchema, body: backtestRequestSchema },
    response: jsonResponse(backtestResponseSchema, { description: 'The alerts that would have opened' }),
    errors: ['BAD_REQUEST', 'WATCH_NOT_FOUND', 'VLM_ERROR'],
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
    // Not needed by a cold start.
    const { backtestWatch } = await import('../../../core/backtest/backtest-watch.ts');
    return presentBacktest(await backtestWatch(input, caller, deps, context.req.raw.signal), caller, deps);
  },
);

export const backtestEndpoints = [backtestEndpoint];
