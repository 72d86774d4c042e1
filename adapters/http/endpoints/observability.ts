import type { z } from 'zod';
import { readLog } from '../../../core/observability/read-log.ts';
import { readMetrics } from '../../../core/observability/metrics.ts';
import { prometheusContentType, formatPrometheus } from '../../../core/observability/prometheus.ts';
import { logQuerySchema, usageQuerySchema } from '../../../core/requests/usage.ts';
import {
  alarmsResponseSchema,
  logsResponseSchema,
  metricsResponseSchema,
  serviceResponseSchema,
  usageResponseSchema,
} from '../../../core/responses/observability.ts';
import * as examples from '../../openapi/examples/operations.ts';
import { service } from '../../openapi/examples/operations.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse, textResponse, type ResponseWith } from '../endpoint-response.ts';
import { describeService } from '../../../core/observability/describe-service.ts';
import type { Context } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import { readUsageToday, readUsage } from '../../../core/access/caller-usage.ts';
import { readCacheUse } from '../../byte-cache.ts';
import type { HttpDeps } from '../dependencies.ts';

/** Reads the metrics and checks as text for Prometheus. */
async function readPrometheus(
  deps: Pick<
    HttpDeps,
    'jobs' | 'watches' | 'meter' | 'pace' | 'vision' | 'health' | 'mediaUse' | 'callers' | 'usage' | 'now'
  >,
): Promise<string> {
  return formatPrometheus(
    await readMetrics(deps),
    (await deps.health?.read()) ?? [],
    await readUsageToday(deps),
    readCacheUse(),
  );
}

const textTypes = new Set(['text/plain', 'application/openmetrics-text']);

/**
 * Returns true if the Accept header names the text format and prefers it to JSON. Without a preference, JSON is the
 * default.
 */
function wantsPrometheus(context: Context): boolean {
  const accepted = parseAccept(context.req.header('Accept') ?? '');
  const quality = (isWanted: (type: string) => boolean) =>
    Math.max(0, ...accepted.filter(({ type }) => isWanted(type.toLowerCase())).map(({ q }) => q));
  return quality((type) => textTypes.has(type)) > quality((type) => type === 'application/json');
}

/** Endpoints of metrics, alarms and logs, for operators. */

const withoutHeader = {
  method: 'get',
  tag: 'operations',
  scope: 'internal',
  effect: 'reads',
} as const;
const shared = { ...withoutHeader, fixedHeaders: { 'X-Service-Internal': 'true' } } as const;

const metricsJson = jsonResponse(metricsResponseSchema, { description: 'The numbers' });
const metricsText = textResponse({
  description: 'The numbers and checks as text for Prometheus',
  contentType: prometheusContentType,
});
/** JSON, or text for Prometheus. */
const metricsResponse: ResponseWith<z.input<typeof metricsResponseSchema> | string> = {
  ...metricsJson,
  toResponse: (context, body) =>
    typeof body === 'string' ? metricsText.toResponse(context, body) : metricsJson.toResponse(context, body),
};

const metricsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'metrics',
    path: '/metrics',
    title: 'Read the metrics of the service',
    description:
      'Counted since `started_at`. What the pre-filter saves, in percent: `frames.skipped_prefilter / (frames.captured + frames.skipped_prefilter) * 100`. With `Accept: text/plain` the response is text for Prometheus, as from `GET /metrics/prometheus`.',
    tool: {
      description:
        'Counted since started_at. What the pre-filter saves, in percent: frames.skipped_prefilter / (frames.captured + frames.skipped_prefilter) * 100.',
    },
    request: {},
    response: metricsResponse,
    errors: [],
    examples: { response: { metrics: examples.metrics } },
  },
  async ({ context }, deps) => (wantsPrometheus(context) ? readPrometheus(deps) : readMetrics(deps)),
);

const prometheusEndpoint = defineEndpoint(
  {
    ...withoutHeader,
    id: 'prometheus_metrics',
    path: '/metrics/prometheus',
    title: 'Read the metrics as text for Prometheus',
    description:
      'Returns the numbers of `GET /metrics` and the checks of the service in the text format of Prometheus. Needs no header besides the key, since a scraper sends none.',
    withoutTool: true,
    request: {},
    response: metricsText,
    errors: [],
    examples: { response: { metrics: examples.prometheus } },
  },
  (_request, deps) => readPrometheus(deps),
);

const alarmsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'alarms',
    path: '/alarms',
    title: 'Read the state of the alarms',
    description: 'Returns the CloudWatch alarms of a service on AWS, and an empty list on one machine.',
    request: {},
    response: jsonResponse(alarmsResponseSchema, { description: 'The alarms' }),
    errors: [],
    examples: { response: { alarms: examples.alarms } },
  },
  async (_request, { alarms }) => ({ alarms: alarms ? await alarms.list() : null }),
);

const logsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'logs',
    path: '/logs',
    title: 'Read the log of the service',
    description:
      'Returns the newest of the last 500 entries, oldest first. Entries about a job begin with `[JOB:…]`.',
    request: { query: logQuerySchema },
    response: jsonResponse(logsResponseSchema, { description: 'Log entries' }),
    errors: [],
    examples: { response: { log: examples.log } },
  },
  ({ query }, deps) => readLog(query, deps),
);

export const observabilityEndpoints = [metricsEndpoint, prometheusEndpoint, alarmsEndpoint, logsEndpoint];

/** Endpoint that describes the service, for clients that adapt to it. */

const serviceEndpoint = defineEndpoint(
  {
    id: 'service',
    tag: 'operations',
    scope: 'any',
    method: 'get',
    path: '/service',
    title: 'Read version, limits and model',
    description:
      'Returns the version and limits of this service, its model, and conditions that the model judges well.',
    effect: 'reads',
    request: {},
    response: jsonResponse(serviceResponseSchema, { description: 'Version, limits and model' }),
    errors: [],
    examples: { response: { service } },
  },
  async (_request, deps) => describeService(deps),
);

export const serviceEndpoints = [serviceEndpoint];

const usageEndpoint = defineEndpoint(
  {
    id: 'usage',
    tag: 'access',
    scope: 'any',
    method: 'get',
    path: '/usage',
    title: 'Read tokens and cost by caller',
    description:
      "Returns model calls, tokens and their list price of your caller, by day (UTC). With the scope `admin`, returns those of another caller, or of all callers by name. Days are kept for 400 days; an erased caller's are gone.",
    effect: 'reads',
    request: { query: usageQuerySchema },
    response: jsonResponse(usageResponseSchema, { description: 'The use by caller and day' }),
    errors: ['BAD_REQUEST', 'FORBIDDEN'],
    examples: { response: { usage: examples.usage } },
  },
  ({ query, key }, deps) => readUsage(key, query, deps),
);

export const usageEndpoints = [usageEndpoint];
