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
