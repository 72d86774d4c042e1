import { condition, frameBase64, streamUrl } from './jobs.ts';

/** Data of the examples of watches and alerts. */

export const watchId = '2c5ea4c0-4067-4e1f-8f9e-3b0c6a1f2d10';
export const alertId = '6fa459ea-ee8a-5a0e-8f3d-5b4c3a2e1f00';
const conditionId = 'a-ship-is-between-the-gates';
const time = '2026-03-01T12:00:00.000Z';

export const watchRequest = {
  name: 'Lock, north gate',
  stream_url: streamUrl,
  conditions: [{ condition, severity: 'warning' }],
};

export const fullWatchRequest = {
  ...watchRequest,
  interval_seconds: 15,
  schedule: {
    time_zone: 'Europe/Berlin',
    active: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '18:00', to: '06:00' }],
  },
  budget: { model_calls_per_day: 2000, usd_per_day: null },
  destinations: [
    { destination_id: 'team', type: 'slack', url: 'https://hooks.slack.example.com/services/T0/B0/x' },
    { type: 'pagerduty', routing_key: 'R0123456789', min_severity: 'critical' },
  ],
  regions: [
    {
      mode: 'include',
      points: [
        [0, 0.4],
        [1, 0.4],
        [1, 1],
        [0, 1],
      ],
    },
  ],
  labels: ['harbor'],
};

export const watch = {
  watch_id: watchId,
  name: 'Lock, north gate',
  status: 'active',
  config_version: 1,
  created_at: time,
  updated_at: time,
  stream_url: streamUrl,
  stream_fingerprint: 'c41e02d95b7f6a83',
  interval_seconds: 10,
  input_mode: 'frames',
  clip_duration_seconds: 3,
  enable_prefilter: true,
  look_back: true,
  follow: false,
  conditions: [
    {
      condition_id: conditionId,
      condition,
      alert_on: 'each_visit',
      checks_to_open: 2,
      checks_considered: 3,
      open_after_seconds: 0,
      checks_to_close: 2,
      close_after_seconds: 4,
      cooldown_seconds: 0,
      remind_seconds: null,
      severity: 'warning',
      sensitivity: 'normal',
    },
  ],
  confirm_seconds: 2,
  schedule: null,
  budget: null,
  destinations: [
    {
      destination_id: 'team',
      type: 'slack',
      url_masked: 'https://hooks.slack.example.com/***',
      fingerprint: '9f86d081884c7d65',
      notify: 'openings',
      min_severity: 'info',
      include_frame: false,
      include_clip: true,
    },
  ],
  regions: null,
  retention_days: 7,
  memory_days: 3,
  evidence_clip: { before_seconds: 8, after_seconds: 8 },
  scene: true,
  labels: [],
  state: {
    causes: { paused: null, off_schedule: null, budget_exhausted: null, stream_lost: null },
    conditions: [
      {
        condition_id: conditionId,
        state: 'clear',
        unconfirmed: false,
        unjudged: false,
        alert_id: null,
        opened_at: null,
        holding_since: null,
        held_at: time,
        seen_at: time,
        last_opened_at: time,
        explanation: null,
        snoozed_until: null,
        snoozes: [],
      },
    ],
    last_check: 42,
    last_frame_at: time,
    shortest_visit_seconds: 7,
    next_check_at: '2026-03-01T12:00:10.000Z',
    late_since: null,
    view_changed_since: null,
    destinations_failing: [],
    model_failure: null,
    budget: null,
  },
};

export const alert = {
  alert_id: alertId,
  watch_id: watchId,
  watch_name: 'Lock, north gate',
  condition_id: conditionId,
  condition,
  severity: 'warning',
  labels: [],
  state: 'open',
  opened_at: time,
  open_seconds: 30,
  explanation: 'A barge lies between the gates.',
  checks: [
    { checked_at: '2026-03-01T11:59:58.000Z', triggered: true },
    { checked_at: time, triggered: true },
  ],
  frame_url: `https://watchpost.example.com/api/alerts/${alertId}/frame`,
  clip: {
    clip_url: `https://watchpost.example.com/api/alerts/${alertId}/clip`,
    from: '2026-03-01T11:59:52.000Z',
    to: '2026-03-01T12:00:08.000Z',
    bytes: 4_000_000,
    codec: 'avc1',
    reason: null,
  },
  reminders: 0,
  acknowledged: null,
  closed: null,
  review: null,
  expires_at: null,
};

export const reviewedAlert = {
  ...alert,
  review: { correct: true, note: '', at: '2026-03-01T12:05:00.000Z', by: 'lock control room' },
};

export const openedEvent = {
  type: 'alert_opened',
  timestamp: time,
  source_url: streamUrl,
  data: {
    watch_id: watchId,
    watch_name: 'Lock, north gate',
    sequence: 7,
    labels: [],
    alert_id: alertId,
    condition_id: conditionId,
    condition,
    severity: 'warning',
    opened_at: time,
    explanation: alert.explanation,
    checks: alert.checks,
    frame_url: alert.frame_url,
  },
};

export const eventStream = `retry: 3000

event: alert_opened
id: 7
data: ${JSON.stringify(openedEvent)}

`;

const counters = {
  checks: 40,
  verdicts: 40,
  not_judged: 0,
  model_calls: 40,
  model_failures: 0,
  skipped: 320,
  failed_captures: 0,
  alerts_opened: 1,
  alerts_closed: 0,
  reminders: 0,
  input_tokens: 48_000,
  output_tokens: 1_600,
  usd: 0.003,
  coverage: 1,
  judged_seconds: 400,
  quiet_seconds: 3200,
  between_seconds: 0,
  not_seen_seconds: 0,
  unjudged_seconds: {},
  unsure_sightings: { [conditionId]: 2 },
};

const precision = {
  condition_id: conditionId,
  reviewed: 20,
  correct: 18,
  precision: 0.9,
  interval: { from: 0.699, to: 0.972 },
  missed: 2,
  recall: 0.9,
  recall_interval: { from: 0.699, to: 0.972 },
};

export const stats = {
  watch_id: watchId,
  from: '2026-02-22T13:00:00.000Z',
  to: '2026-03-01T13:00:00.000Z',
  total: counters,
  days: [{ day: '2026-03-01', ...counters }],
  hours: [{ hour: time, ...counters, gaps: [] }],
  precision: [precision],
  weeks: [{ week: '2026-02-23', ...precision }],
};

export const preview = {
  verdicts: [
    {
      condition_id: conditionId,
      condition,
      triggered: false,
      explanation: 'The lock is empty.',
      findings: [],
    },
  ],
  captured_at: time,
  latency_ms: 1850,
  frame_b64: frameBase64,
};

export const testedDestinations = {
  destinations: [
    { destination_id: 'destination-1', type: 'slack', status: 200, latency_ms: 212, error: null },
    { destination_id: 'destination-2', type: 'webhook', status: 404, latency_ms: 95, error: 'HTTP 404' },
  ],
};
