const text = `wp_${'x'.repeat(43)}0a1b2c`;

export const key = {
  key_id: '6f1ed002ab5595859014ebf0951522d9a0f2b7f5f0e4a1d6c1f5b1f7a7a6d0f3',
  prefix: 'wp_xxxxxxxx',
  caller: 'harbour',
  scopes: ['jobs'],
  label: 'lock control room',
  created_by: null,
  created_at: '2026-03-01T11:00:00.000Z',
  last_used_at: '2026-03-01T12:00:00.000Z',
  revoked_at: null,
};

export const newKey = { key: text, ...key, last_used_at: null };
export const signInCode = {
  code: `${key.key_id}.1772366700.${'s'.repeat(43)}`,
  expires_at: '2026-03-01T12:05:00.000Z',
};
export const rotatedKey = { ...newKey, replaces: { ...key, revoked_at: '2026-03-01T13:00:00.000Z' } };
export const revokedKey = { ...key, revoked_at: '2026-03-01T12:00:00.000Z' };

export const caller = {
  caller: 'harbour',
  label: 'The harbour office',
  created_at: '2026-03-01T11:00:00.000Z',
};

const useOfDay = {
  model_calls: 412,
  model_errors: 3,
  input_tokens: 516_000,
  output_tokens: 20_600,
  cost_usd: 0.0359,
};

export const usage = {
  from: '2026-03-01',
  to: '2026-03-30',
  callers: [{ caller: 'harbour', ...useOfDay, days: [{ day: '2026-03-01', ...useOfDay }] }],
  next_after: null,
};

export const erasure = { caller: 'mooring', complete: true, keys: 2, jobs: 14, watches: 1, media: 61 };

export const metrics = {
  started_at: '2026-03-01T11:00:00.000Z',
  providers: { bedrock: { calls: 412, errors: 3 } },
  jobs: { created: 9, completed: 4, failed: 1 },
  frames: { captured: 412, skipped_prefilter: 1377 },
  late: { checks: 0, seconds: 0.02, interval_factor: 1, blocked_seconds: 0, session_fallbacks: 0 },
  watches: {
    active: 6,
    off_schedule: 1,
    budget_exhausted: 0,
    stream_lost: 1,
    late: 0,
    unjudged: 0,
    destinations_failing: 1,
  },
  searches: { started: 4, model_calls: 31, cost_usd: 0.012 },
  moments: { dropped: 0 },
  webhooks: { sent: 21, failed: 0 },
  mails: { sent: 3, failed: 0 },
  media: { bytes: 812_000_000, max_bytes: 2_000_000_000, evidence_removed: 0 },
};

export const prometheus = `# HELP watchpost_jobs_created_total Accepted jobs.
# TYPE watchpost_jobs_created_total counter
watchpost_jobs_created_total 9
`;

export const alarms = {
  alarms: [
    {
      name: 'Watchpost-prod/failed-jobs',
      state: 'ok',
      description: 'Jobs failed. What to do: docs/operate/runbook.md#failed-jobs',
      since: '2026-03-01T11:02:00.000Z',
    },
  ],
};

export const log = {
  total_in_buffer: 137,
  returned: 1,
  logs: [{ time: '2026-03-01T12:00:00.000Z', level: 'INFO', message: '[JOB:7f1f6f5e] Job accepted' }],
};

export const service = {
  version: '0.1.0',
  limits: { max_job_seconds: 600, retention_seconds: 3600, jobs_per_caller: 10 },
  destination_types: ['webhook', 'slack', 'discord', 'ntfy', 'pagerduty', 'email', 'mqtt', 'heartbeat'],
  email_recipients: ['@example.com', 'd***@example.org'],
  discovers_cameras: true,
  model: {
    provider: 'objects',
    name: 'objects',
    supports_video: true,
    condition_examples: ['A red car is in the yard', 'The picture is dark', 'Something moves'],
  },
};
