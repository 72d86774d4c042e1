import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatPrometheus } from '../../../core/observability/prometheus.ts';

const metrics = {
  started_at: '2026-03-01T12:00:00.000Z',
  providers: { pixel: { calls: 60, errors: 1 } },
  jobs: { created: 4, completed: 2, failed: 1 },
  frames: { captured: 60, skipped_prefilter: 180 },
  webhooks: { sent: 11, failed: 1 },
  moments: { dropped: 2 },
  mails: { sent: 2, failed: 1 },
  media: { bytes: 812, max_bytes: 2000, evidence_removed: 3 },
  searches: { started: 3, model_calls: 40, cost_usd: 0.02 },
  watches: {
    active: 6,
    off_schedule: 1,
    budget_exhausted: 0,
    stream_lost: 2,
    late: 3,
    unjudged: 4,
    destinations_failing: 5,
  },
  late: { checks: 7, seconds: 0.4, interval_factor: 1.25, blocked_seconds: 1.5, session_fallbacks: 2 },
};
const findings = [
  { check: 'model', status: 'failed', message: '', next: null },
  { check: 'disk', status: 'warning', message: '', next: null },
  { check: 'clock', status: 'ok', message: '', next: null },
] as const;

const use = {
  model_calls: 3,
  model_errors: 0,
  input_tokens: 900,
  output_tokens: 12,
  micro_usd: 57,
  unpriced_calls: 0,
};
const callers = [{ caller: 'harbour "south"', use }];
const caches = [{ cache: 'cookies', bytes: 4096, maxBytes: 33_554_432 }];

test('the text for Prometheus has every number of the metrics, with help and type', () => {
  const text = formatPrometheus(metrics, findings, callers, caches);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples).toEqual([
    'watchpost_start_time_seconds 1772366400',
    'watchpost_model_calls_total{provider="pixel"} 60',
    'watchpost_model_errors_total{provider="pixel"} 1',
    'watchpost_jobs_created_total 4',
    'watchpost_jobs_ended_total{status="completed"} 2',
    'watchpost_jobs_ended_total{status="failed"} 1',
    'watchpost_frames_captured_total 60',
    'watchpost_frames_skipped_total 180',
    'watchpost_deliveries_total{result="sent"} 11',
    'watchpost_deliveries_total{result="failed"} 1',
    'watchpost_mails_total{result="sent"} 2',
    'watchpost_mails_total{result="failed"} 1',
    'watchpost_late_checks_total 7',
    'watchpost_late_seconds 0.4',
    'watchpost_interval_factor 1.25',
    'watchpost_event_loop_blocked_seconds_total 1.5',
    'watchpost_rtsp_session_fallbacks_total 2',
    'watchpost_searches_total 3',
    'watchpost_search_model_calls_total 40',
    'watchpost_search_cost_usd_total 0.02',
    'watchpost_moments_dropped_total 2',
    'watchpost_media_bytes 812',
    'watchpost_media_max_bytes 2000',
    'watchpost_evidence_removed_total 3',
    'watchpost_watches{status="active"} 6',
    'watchpost_watches{status="off_schedule"} 1',
    'watchpost_watches{status="budget_exhausted"} 0',
    'watchpost_watches{status="stream_lost"} 2',
    'watchpost_watches_late 3',
    'watchpost_watches_unjudged 4',
    'watchpost_watches_destinations_failing 5',
    'watchpost_caller_tokens_total{caller="harbour \\"south\\"",kind="input"} 900',
    'watchpost_caller_tokens_total{caller="harbour \\"south\\"",kind="output"} 12',
    'watchpost_caller_cost_usd_total{caller="harbour \\"south\\""} 0.000057',
    'watchpost_cache_bytes{cache="cookies"} 4096',
    'watchpost_cache_max_bytes{cache="cookies"} 33554432',
    'watchpost_check_failed{check="model"} 1',
    'watchpost_check_failed{check="disk"} 0.5',
    'watchpost_check_failed{check="clock"} 0',
  ]);
  for (const sample of samples) {
    const name = /^\w+/.exec(sample)![0];
    expect(text).toMatch(new RegExp(`^# HELP ${name} .+\n# TYPE ${name} (?:counter|gauge)$`, 'm'));
  }
  expect(text.endsWith('\n')).toBe(true);
});

test('label values are escaped', () => {
  const text = formatPrometheus(
    { ...metrics, providers: { 'a"b\\c\n': { calls: 1, errors: 0 } } },
    [],
    [],
    [],
  );
  expect(text).toContain(String.raw`watchpost_model_calls_total{provider="a\"b\\c\n"} 1`);
});

test.each(['alerts.yml', 'dashboard.json'])(
  'every metric that %s uses is in the text for Prometheus',
  (file) => {
    const used = readFileSync(`docs/operate/prometheus/${file}`, 'utf8').match(/\bwatchpost_\w+/g) ?? [];
    const offered = formatPrometheus(metrics, findings, callers, caches).match(/^watchpost_\w+/gm) ?? [''];
    expect(used.length).toBeGreaterThan(4);
    expect(used.filter((name) => !offered.includes(name))).toEqual([]);
  },
);
