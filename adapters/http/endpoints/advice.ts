import { advise } from '../../../core/advice/advise.ts';
import { forecastCost } from '../../../core/advice/forecast.ts';
import { adviseRequestSchema } from '../../../core/requests/checks.ts';
import { adviceResponseSchema } from '../../../core/responses/checks.ts';
import * as examples from '../../openapi/examples/checks.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

/** Advice on conditions, by plain rules, without a model call or a stream. */

const adviseEndpoint = defineEndpoint(
  {
    id: 'advise_condition',
    tag: 'checks',
    scope: 'read',
    method: 'post',
    path: '/conditions/advise',
    title: 'Advise on a condition',
    description:
      'Names what is doubtful about a condition, suggests wording and settings, and forecasts the cost. Follows plain rules: it asks no model.',
    effect: 'reads',
    rateLimit: 'calls',
    request: { body: adviseRequestSchema },
    response: jsonResponse(adviceResponseSchema, { description: 'Findings, suggestion and forecast' }),
    errors: [],
    examples: { body: { brief: examples.adviceRequest }, response: { brief: examples.advice } },
  },
  async ({ body }, { vision, modelPrice }) => {
    const { findings, suggestion } = advise(body.condition, vision.capabilities, body.sensitivity);
    const asked = {
      interval_seconds: body.interval_seconds ?? suggestion.interval_seconds,
      input_mode: body.input_mode ?? suggestion.input_mode,
      checks_to_open: suggestion.checks_to_open,
      judgesMoments: vision.capabilities.judgesMoments,
    };
    return {
      findings,
      suggestion,
      forecast: { model: vision.model, ...forecastCost(asked, modelPrice) },
    };
  },
);

export const adviceEndpoints = [adviseEndpoint];
