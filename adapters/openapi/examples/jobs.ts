/** Data of all examples: a monitor of a harbor lock that detects a barge. */

export const jobId = '7f1f6f5e-1f0a-4c5e-9d0e-0c4c1c5e7a53';
export const streamUrl = 'https://cameras.example.com/lock/live.m3u8';
export const webhookUrl = 'https://receiver.example.com/watchpost';
/** Complete JPEG of 16 × 16 gray pixels, so that the examples can be sent unchanged. */
export const frameBase64 =
  '/9j/4AAQSkZJRgABAgAAAQABAAD/2wBDAAgUFBcUFxsbGxsbGyAeICEhISAgICAhISEkJCQqKiokJCQhISQkKCgqKi4vLisrKisvLzIyMjw8OTlGRkhWVmf/xABLAAEBAAAAAAAAAAAAAAAAAAAABgEBAAAAAAAAAAAAAAAAAAAAABABAAAAAAAAAAAAAAAAAAAAABEBAAAAAAAAAAAAAAAAAAAAAP/AABEIABAAEAMBEgACEgADEgD/2gAMAwEAAhEDEQA/AJAAAAH/2Q==';

export const condition = 'A ship is between the gates of the lock';

export const monitorConfig = {
  condition,
  interval_seconds: 10,
  input_mode: 'frames',
  clip_duration_seconds: 3,
  monitor_duration_seconds: 600,
  trigger_cooldown_seconds: 0,
  max_triggers: 1,
  enable_prefilter: true,
};

const head = {
  job_id: jobId,
  created_at: '2026-03-01T12:00:00.000Z',
  stream_url: streamUrl,
  job_type: 'live-monitor',
};

export const acceptedJob = {
  ...head,
  status: 'pending',
  details: { ...monitorConfig, delivery: 'polling', reason: null },
  message: 'Monitor accepted. Poll GET /jobs/{job_id}.',
};

export const acceptedWebhookJob = {
  ...head,
  status: 'pending',
  details: {
    ...monitorConfig,
    webhook_url: webhookUrl,
    delivery: 'webhook',
    reason: null,
  },
  message: 'Monitor accepted. Events are sent to webhook_url.',
};

const { message: _, ...listed } = acceptedJob;
export const jobList = { jobs: [{ ...listed, status: 'running' }], total: 1, limit: 20, offset: 0 };

const counters = {
  checks_performed: 4,
  checks_missed: 0,
  triggers_fired: 0,
  frames_captured: 4,
  frames_skipped: 9,
  frozen_frames: 0,
  black_frames: 0,
  stale_captures: 0,
  failed_captures: 0,
  input_tokens: 3600,
  output_tokens: 120,
};

const coverage = { ratio: 1, watched_seconds: 130, gap_seconds: 0, gaps: [] };

const stats = {
  auto_stopped: false,
  ...counters,
  last_check: 13,
  watch_duration_seconds: 130,
  started_at: '2026-03-01T12:00:01.000Z',
  ended_at: null,
  next_check_at: '2026-03-01T12:02:21.000Z',
  last_frame_at: '2026-03-01T12:02:10.500Z',
  coverage,
};

export const runningJob = {
  ...head,
  status: 'running',
  config: monitorConfig,
  stats: { ...stats, notices: [], triggers: [] },
};

export const cancelledJob = {
  job_id: jobId,
  status: 'stopped',
  message: 'Job stopped',
  final_stats: {
    reason: 'cancelled',
    ...stats,
    ended_at: '2026-03-01T12:02:11.000Z',
    next_check_at: null,
  },
};
