import { watchRequestSchema, type WatchRequest } from '../../core/requests/watches.ts';
import type { Watch } from '../../core/records/watch.ts';
import { splitRequest } from '../../core/watch/watch-config.ts';
import type { PlainCondition, PlainConfig } from './oracle/plain.ts';
import type { Random } from './random.ts';
import { Receiver, type ToldEvent } from './receiver.ts';

const severities = { a: 'info', b: 'warning', c: 'critical' } as const;

function toRequest(rule: PlainCondition) {
  return {
    condition_id: rule.id,
    condition: rule.text,
    alert_on: 'by_checks',
    checks_to_open: rule.toOpen,
    checks_considered: rule.considered,
    open_after_seconds: rule.openAfter ?? 0,
    checks_to_close: rule.toClose,
    close_after_seconds: rule.closeAfter,
    cooldown_seconds: rule.cooldown,
    remind_seconds: rule.remind,
    severity: rule.id === 'a' || rule.id === 'b' || rule.id === 'c' ? severities[rule.id] : 'warning',
    sensitivity: 'normal',
  } as const;
}

export function toConditions(conditions: PlainConfig['conditions']): WatchRequest['conditions'] {
  return conditions.map(toRequest);
}

/** Short, so that alerts expire within the simulated time. */
export const retentionDays = 2;

const alertEvents = ['alert_opened', 'alert_reminder', 'alert_acknowledged', 'alert_closed'];

/** Reasons of changes after which nobody watches, or somebody does again, and of one with advice. */
const failures = [
  'budget_exhausted',
  'budget_renewed',
  'model_without_price',
  'checks_late',
  'checks_in_time',
  'destination_failed',
  'destination_recovered',
  'model_failed',
  'model_recovered',
  'unsure_sightings',
];

const begins = [
  'budget_exhausted',
  'model_without_price',
  'checks_late',
  'destination_failed',
  'model_failed',
];

/** Creates receivers of all events, of severe alerts with failures, and of alerts in the format of PagerDuty. */
export function createReceivers(index: number, random: Random): Receiver[] {
  const isSevere = ({ severity, type, reason, failing }: ToldEvent) => {
    if (severity !== null) return severity !== 'info';
    if (type === 'watch_changed') return failures.includes(reason ?? '') && failing !== 'webhook-2';
    return type === 'stream_lost' || type === 'stream_recovered';
  };
  // A resolution names no event.
  const isPaged = ({ type, reason, failing }: ToldEvent) =>
    alertEvents.includes(type) || (begins.includes(reason ?? '') && failing !== 'pagerduty');
  return [
    new Receiver(
      `https://all-${index}.test/hook`,
      random,
      ({ type, failing }) => type !== 'progress' && failing !== 'webhook',
    ),
    new Receiver(`https://severe-${index}.test/hook`, random, isSevere),
    new Receiver(`https://pager-${index}.test/v2/enqueue`, random, isPaged),
  ];
}

export function createWatchRequest(
  { zone, schedule, callsPerDay, ...plain }: PlainConfig,
  streamUrl: string,
  receivers: readonly Receiver[],
): WatchRequest {
  const [all, severe, pager] = receivers.map(({ url }) => url);
  return watchRequestSchema.parse({
    name: 'Yard',
    stream_url: streamUrl,
    interval_seconds: plain.interval,
    enable_prefilter: plain.prefilter,
    confirm_seconds: plain.confirm,
    conditions: toConditions(plain.conditions),
    schedule: schedule && { time_zone: zone, active: schedule },
    budget: callsPerDay === null ? null : { model_calls_per_day: callsPerDay },
    retention_days: retentionDays,
    destinations:
      receivers.length === 0
        ? []
        : [
            { type: 'webhook', url: all },
            {
              type: 'webhook',
              url: severe,
              min_severity: 'warning',
              notify: 'openings_and_closings',
            },
            { type: 'pagerduty', routing_key: 'R0UT1NG', url: pager },
          ],
  });
}

const watchId = '00000000-0000-4000-8000-000000000001';

/** Returns the record of a watch without destinations. */
export function toWatch(plain: PlainConfig): Watch {
  const at = new Date(plain.createdAt).toISOString();
  const streamUrl = 'https://example.com/live.m3u8';
  return {
    run_id: watchId,
    policy: 'watch',
    caller: 'caller',
    created_at: at,
    updated_at: at,
    config_version: 1,
    stream_url: streamUrl,
    stream_fingerprint: null,
    source_id: watchId,
    stream_phase: null,
    config: splitRequest(createWatchRequest(plain, streamUrl, []), () => '', {}).config,
  };
}
