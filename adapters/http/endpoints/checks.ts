import { analyzeFrame } from '../../../core/stream/analyze-frame.ts';
import { checkOnce } from '../../../core/stream/check-once.ts';
import {
  analyzeFrameRequestSchema,
  checkOnceRequestSchema,
  validateStreamRequestSchema,
  adviseRequestSchema,
} from '../../../core/requests/checks.ts';
import {
  analyzeFrameResponseSchema,
  checkOnceResponseSchema,
  streamValidationResponseSchema,
  adviceResponseSchema,
} from '../../../core/responses/checks.ts';
import { condition, frameBase64, streamUrl } from '../../openapi/examples/jobs.ts';
import * as examples from '../../openapi/examples/checks.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse, latencyMs } from '../endpoint-response.ts';
import { setBoxesHeader, setModelUsageHeaders } from '../model-usage-headers.ts';
import { validateStream } from '../../../core/stream/validate-stream.ts';
import { advise } from '../../../core/advice/advise.ts';
import { forecastCost } from '../../../core/advice/forecast.ts';

/** Checks without a job. */

const shared = {
  method: 'post',
  tag: 'checks',
  scope: 'jobs',
  effect: 'probes',
  rateLimit: 'calls',
} as const;

const checkOnceEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'check_once',
    path: '/check-once',
    title: 'Check a condition once',
    description:
      'Captures the stream now, checks the condition, and returns the verdict with an explanation.',
    // Includes a probe and a capture of 20 s each, and a model call of 18 s.
    timeBudgetSeconds: 58,
    request: { body: checkOnceRequestSchema },
    response: jsonResponse(checkOnceResponseSchema, { description: 'The verdict', picture: 'frame_b64' }),
    errors: ['NOT_LIVESTREAM', 'INVALID_URL', 'STREAM_FETCH_FAILED', 'INVALID_INPUT_MODE', 'VLM_ERROR'],
    examples: {
      body: {
        check: { stream_url: streamUrl, condition },
        with_frame: { stream_url: streamUrl, condition, include_frame: true },
      },
      response: { check: examples.checkedOnce, with_frame: examples.checkedWithFrame },
    },
  },
  async ({ body, caller, startedAt, setHeader, context }, deps) => {
    const check = {
      url: body.stream_url,
      condition: body.condition,
      mode: body.input_mode,
      clipSeconds: body.clip_duration_seconds,
    };
    const { verdict, capture, modelMs } = await checkOnce(check, caller, deps, context.req.raw.signal);
    setModelUsageHeaders(setHeader, deps.vision, verdict, modelMs);
    setBoxesHeader(setHeader, verdict.boxes);
    return {
      triggered: verdict.triggered,
      ...notJudged(verdict),
      explanation: verdict.explanation,
      latency_ms: latencyMs(startedAt, deps.now()),
      ...(body.include_frame ? { frame_b64: Buffer.from(capture.frame).toString('base64') } : {}),
    };
  },
);

const analyzeFrameEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'analyze_frame',
    path: '/analyze-frame',
    title: 'Ask about an image',
    description:
      'Answers a question about a JPEG in the request. `triggered` is the answer to a yes/no question, and null for an open question.',
    // Includes a model call of 21 s, an upload of 5 MB, and cold starts of two functions.
    timeBudgetSeconds: 35,
    // Fits a JPEG of 4096 × 3072 pixels as base64.
    maxBodyBytes: 5_000_000,
    request: { body: analyzeFrameRequestSchema },
    response: jsonResponse(analyzeFrameResponseSchema, { description: 'The answer', picture: 'frame_b64' }),
    errors: ['BAD_REQUEST', 'VLM_ERROR'],
    examples: {
      body: {
        yes_or_no: { frame_b64: frameBase64, question: 'Is there a ship in the lock?' },
        open: { frame_b64: frameBase64, question: 'What is in the lock?' },
      },
      response: { yes_or_no: examples.frameAnswer, open: examples.openAnswer },
    },
  },
  async ({ body: { frame_b64: frame, question, include_frame: includeFrame }, startedAt, caller }, deps) => {
    const { answer, triggered, judged } = await analyzeFrame(frame, question, caller, deps);
    return {
      answer,
      triggered,
      ...notJudged({ judged }),
      latency_ms: latencyMs(startedAt, deps.now()),
      frame_b64: includeFrame ? frame : null,
    };
  },
);

export const checkEndpoints = [checkOnceEndpoint, analyzeFrameEndpoint];

/** Adds `judged` only where the model could not judge: the contract fixes the fields of an ordinary answer. */
function notJudged({ judged }: { judged?: boolean | undefined }): { judged?: false } {
  return judged === false ? { judged } : {};
}

const validateStreamEndpoint = defineEndpoint(
  {
    id: 'validate_stream',
    method: 'post',
    path: '/streams/validate',
    tag: 'checks',
    title: 'Check a stream URL',
    description:
      'Checks that the URL is a live stream. A stream that is not live returns `error_hint`, not an error.',
    scope: 'jobs',
    effect: 'probes',
    rateLimit: 'calls',
    // Includes a probe of 20 s, and with `include_frame` a capture of 20 s.
    timeBudgetSeconds: 40,
    request: { body: validateStreamRequestSchema },
    response: jsonResponse(streamValidationResponseSchema, {
      description: 'The facts of the stream',
      picture: 'frame_b64',
    }),
    errors: ['INVALID_URL', 'STREAM_FETCH_FAILED'],
    examples: {
      body: { stream: { stream_url: streamUrl } },
      response: { live: examples.liveStream, offline: examples.offlineStream },
    },
  },
  ({ body, caller }, deps) => validateStream(body.stream_url, body.include_frame, caller, deps),
);

export const streamEndpoints = [validateStreamEndpoint];

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
