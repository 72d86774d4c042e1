import type { CallerUse } from '../records/caller.ts';
import type { Finding, CacheUse } from '../ports/observability.ts';
import type { readMetrics } from './metrics.ts';

type Metrics = Awaited<ReturnType<typeof readMetrics>>;
type CallerToday = { caller: string; use: CallerUse };
type Sample = { labels?: Record<string, string>; value: number };

/** Content type of the text format (prometheus.io/docs/instrumenting/exposition_formats). */
export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Formats the metrics, the checks, the use of callers since midnight (UTC) and that of caches as text for Prometheus.
 * Every other counter restarts with
 * `watchpost_start_time_seconds`.
 */
export function formatPrometheus(
  metrics: Metrics,
  findings: readonly Finding[],
  callers: readonly CallerToday[],
  caches: readonly CacheUse[],
): string {
  const { jobs, frames, webhooks } = metrics;
  const providers = Object.entries(metrics.providers);
  return [
    family('watchpost_start_time_seconds', 'gauge', 'Start of the count, as Unix time.', [
      { value: Date.parse(metrics.started_at) / 1000 },
    ]),
    family(
      'watchpost_model_calls_total',
      'counter',
      'Completed model calls.',
      providers.map(([provider, { calls }]) => ({ labels: { provider }, value: calls })),
    ),
    family(
      'watchpost_model_errors_total',
      'counter',
      'Model calls without a usable result.',
      providers.map(([provider, { errors }]) => ({ labels: { provider }, value: errors })),
    ),
    family('watchpost_jobs_created_total', 'counter', 'Accepted jobs.', [{ value: jobs.created }]),
    family('watchpost_jobs_ended_total', 'counter', 'Jobs by their final status, without stopped ones.', [
      { labels: { status: 'completed' }, value: jobs.completed },
      { labels: { status: 'failed' }, value: jobs.failed },
    ]),
    family('watchpost_frames_captured_total', 'counter', 'Captures that reached the model.', [
      { value: frames.captured },
    ]),
    family('watchpost_frames_skipped_total', 'counter', 'Captures that the pre-filter skipped.', [
      { value: frames.skipped_prefilter },
    ]),
    family('watchpost_deliveries_total', 'counter', 'Deliveries by their result, without e-mails.', [
      { labels: { result: 'sent' }, value: webhooks.sent },
      { labels: { result: 'failed' }, value: webhooks.failed },
    ]),
    family('watchpost_mails_total', 'counter', 'E-mails by their result.', [
      { labels: { result: 'sent' }, value: metrics.mails.sent },
      { labels: { result: 'failed' }, value: metrics.mails.failed },
    ]),
    family('watchpost_late_checks_total', 'counter', 'Checks whose interval was stretched in an overload.', [
      { value: metrics.late.checks },
    ]),
    family('watchpost_late_seconds', 'gauge', 'Mean time for which checks waited for the service lately.', [
      { value: metrics.late.seconds },
    ]),
    family('watchpost_interval_factor', 'gauge', 'Factor of all intervals, 1 without overload.', [
      { value: metrics.late.interval_factor },
    ]),
    family(
      'watchpost_event_loop_blocked_seconds_total',
      'counter',
      'Time for which the event loop was blocked, in blocks of a quarter of a second and more.',
      [{ value: metrics.late.blocked_seconds }],
    ),
    family(
      'watchpost_rtsp_session_fallbacks_total',
      'counter',
      'RTSP streams whose captures have a connection each, because their session was not usable.',
      [{ value: metrics.late.session_fallbacks }],
    ),
    family('watchpost_searches_total', 'counter', 'Searches in moments.', [
      { value: metrics.searches.started },
    ]),
    family('watchpost_search_model_calls_total', 'counter', 'Model calls of searches.', [
      { value: metrics.searches.model_calls },
    ]),
    family('watchpost_search_cost_usd_total', 'counter', 'List price of the model calls of searches.', [
      { value: metrics.searches.cost_usd },
    ]),
    family('watchpost_moments_dropped_total', 'counter', 'Moments that could not be stored.', [
      { value: metrics.moments.dropped },
    ]),
    ...mediaFamilies(metrics.media),
    ...watchFamilies(metrics.watches),
    ...callerFamilies(callers),
    ...cacheFamilies(caches),
    family(
      'watchpost_check_failed',
      'gauge',
      'Result of each check of the service: 1 failed, 0.5 warning, 0 otherwise.',
      findings.map(({ check, status }) => ({ labels: { check }, value: levels[status] })),
    ),
  ].join('');
}

function watchFamilies(watches: Metrics['watches']): string[] {
  return [
    family(
      'watchpost_watches',
      'gauge',
      'Watches by status, without paused ones.',
      (['active', 'off_schedule', 'budget_exhausted', 'stream_lost'] as const).map((status) => ({
        labels: { status },
        value: watches[status],
      })),
    ),
    family('watchpost_watches_late', 'gauge', 'Watches whose checks are late by five minutes.', [
      { value: watches.late },
    ]),
    family('watchpost_watches_unjudged', 'gauge', 'Watches whose model calls fail.', [
      { value: watches.unjudged },
    ]),
    family('watchpost_watches_destinations_failing', 'gauge', 'Watches with a destination that fails.', [
      { value: watches.destinations_failing },
    ]),
  ];
}

function mediaFamilies(media: Metrics['media']): string[] {
  if (!media) return [];
  const sizes = [
    ['watchpost_media_bytes', 'Pictures and clips on the disk.', media.bytes],
    ['watchpost_media_max_bytes', 'Maximum of pictures and clips.', media.max_bytes],
  ] as const;
  return [
    ...sizes.map(([name, help, value]) => family(name, 'gauge', help, value === null ? [] : [{ value }])),
    family('watchpost_evidence_removed_total', 'counter', 'Pictures of alerts removed before their time.', [
      { value: media.evidence_removed },
    ]),
  ];
}

function callerFamilies(callers: readonly CallerToday[]): string[] {
  return [
    family(
      'watchpost_caller_tokens_total',
      'counter',
      'Tokens of each caller since midnight (UTC).',
      callers.flatMap(({ caller, use }) => [
        { labels: { caller, kind: 'input' }, value: use.input_tokens },
        { labels: { caller, kind: 'output' }, value: use.output_tokens },
      ]),
    ),
    family(
      'watchpost_caller_cost_usd_total',
      'counter',
      'List price of the tokens of each caller since midnight (UTC).',
      callers.map(({ caller, use }) => ({ labels: { caller }, value: use.micro_usd / 1_000_000 })),
    ),
  ];
}

function cacheFamilies(caches: readonly CacheUse[]): string[] {
  return [
    family(
      'watchpost_cache_bytes',
      'gauge',
      'Memory of each cache of the process.',
      caches.map(({ cache, bytes }) => ({ labels: { cache }, value: bytes })),
    ),
    family(
      'watchpost_cache_max_bytes',
      'gauge',
      'Bound of each cache of the process.',
      caches.map(({ cache, maxBytes }) => ({ labels: { cache }, value: maxBytes })),
    ),
  ];
}

const levels = { ok: 0, pending: 0, warning: 0.5, failed: 1 } as const;

function family(name: string, type: 'counter' | 'gauge', help: string, samples: Sample[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map(({ labels = {}, value }) => `${name}${formatLabels(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function formatLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
