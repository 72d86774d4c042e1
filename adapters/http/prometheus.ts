import type { Context } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import { readUsageToday } from '../../core/access/caller-usage.ts';
import { readMetrics } from '../../core/observability/metrics.ts';
import { formatPrometheus } from '../../core/observability/prometheus.ts';
import { readCacheUse } from '../byte-cache.ts';
import type { HttpDeps } from './dependencies.ts';

/** Reads the metrics and checks as text for Prometheus. */
export async function readPrometheus(
  deps: Pick<
    HttpDeps,
    'jobs' | 'watches' | 'meter' | 'pace' | 'vision' | 'health' | 'callers' | 'usage' | 'now'
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

/** Returns true if the Accept header names the text format and prefers it to JSON. Without a preference, JSON is the default. */
export function wantsPrometheus(context: Context): boolean {
  const accepted = parseAccept(context.req.header('Accept') ?? '');
  const quality = (isWanted: (type: string) => boolean) =>
    Math.max(0, ...accepted.filter(({ type }) => isWanted(type.toLowerCase())).map(({ q }) => q));
  return quality((type) => textTypes.has(type)) > quality((type) => type === 'application/json');
}
