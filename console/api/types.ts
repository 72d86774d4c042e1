/**
 * Response types, limited to the fields that the console reads. The console does not import the schemas of the API;
 * `test/console/api-types.test.ts` compares the types with them.
 */

export type Scope = 'jobs' | 'internal' | 'admin';
export type JobStatus = 'pending' | 'running' | 'stopped' | 'completed' | 'failed';
export type JobType = 'live-monitor' | 'live-digest';
export type InputMode = 'frames' | 'clip' | 'hybrid';
export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

export type Gap = { from: string; to: string; reason: 'stream' | 'stale' | 'model' | 'service' };

export type Key = {
  key_id: string;
  prefix: string;
  caller: string;
  scopes: Scope[];
  label: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
};
export type KeyPage = { keys: Key[]; next_after: string | null };
export type NewKey = Key & { key: string };

export type Caller = { caller: string; label: string | null; created_at: string };

export type WebhookSecret = { secret: string; version: number; previous_valid_until: string | null };
export type WebhookTest = { status: number | null; latency_ms: number; error: string | null };

export type StreamValidation = {
  is_live: boolean;
  platform: 'youtube' | 'twitch' | 'rtsp' | 'hls';
  title?: string | undefined;
  channel?: string | undefined;
  viewer_count?: number | undefined;
  parsed_url?: string | undefined;
  frame_b64?: string | undefined;
  error_hint?: string | undefined;
};

export type CheckResult = {
  triggered: boolean;
  explanation: string;
  latency_ms: number;
  frame_b64?: string | undefined;
};

export type MonitorConfig = {
  condition: string;
  interval_seconds: number;
  input_mode: InputMode;
  clip_duration_seconds: number;
  monitor_duration_seconds: number;
  trigger_cooldown_seconds: number;
  max_triggers: number | null;
  enable_prefilter: boolean;
  webhook_url?: string | undefined;
};

export type DigestConfig = {
  window_minutes: number;
  capture_interval_seconds: number;
  max_windows: number | null;
  digest_duration_seconds: number;
  include_frames: boolean;
  enable_prefilter: boolean;
  webhook_url?: string | undefined;
};

export type JobConfig = MonitorConfig | DigestConfig;

type JobHead = {
  job_id: string;
  status: JobStatus;
  created_at: string;
  stream_url: string;
  job_type: JobType;
};

export type JobSummary = JobHead & { details: JobConfig };
export type JobList = { jobs: JobSummary[]; total: number; limit: number; offset: number };

export type JobStats = {
  reason?: string | undefined;
  error?: { code: string; message: string; remediation: string } | undefined;
  checks_performed: number;
  checks_missed: number;
  triggers_fired: number;
  frames_captured: number;
  frames_skipped: number;
  frozen_frames: number;
  black_frames: number;
  stale_captures: number;
  failed_captures: number;
  input_tokens: number;
  output_tokens: number;
  windows_summarized?: number | undefined;
  watch_duration_seconds: number;
  started_at: string | null;
  ended_at: string | null;
  next_check_at: string | null;
  /** Capture time of the newest frame, which `/jobs/{job_id}/frame` returns; `null` before the first. */
  last_frame_at: string | null;
  coverage: { ratio: number; watched_seconds: number; gap_seconds: number; gaps: Gap[] };
  triggers?: AlertEvent[] | undefined;
  summaries?: SummaryEvent[] | undefined;
  webhook?: { delivered: number; pending: number; failed: number } | undefined;
};

export type JobDetail = JobHead & { config: JobConfig; stats: JobStats };

type Envelope<Type extends string, Data> = {
  type: Type;
  timestamp: string;
  data: { job_id: string; sequence: number } & Data;
};

export type StartedEvent = Envelope<'job_started', { config: JobConfig }>;
export type ProgressEvent = Envelope<
  'progress',
  {
    check: number;
    triggered: boolean | null;
    prefilter_skipped: boolean;
    motion: number | null;
    explanation: string;
    captured_at: string | null;
    stream: 'ok' | 'stale' | 'reconnecting';
    picture: 'ok' | 'frozen' | 'black' | 'repeated' | null;
    next_check_at: string | null;
  }
>;
/** Evidence is fetched by job and sequence, so the fields for image and link are omitted. */
export type AlertEvent = Envelope<
  'watch_triggered',
  { condition: string; explanation: string; captured_at: string }
>;
export type SummaryEvent = Envelope<
  'summary_generated',
  {
    window_index: number;
    window_start: string;
    window_end: string;
    partial: boolean;
    summary: string;
    frames_captured: number;
    frames_skipped: number;
    gaps: Gap[];
    frame_grid_url?: string | undefined;
    frame_grid_b64?: string | null | undefined;
  }
>;
export type ErrorEvent = Envelope<'error', { code: string; message: string; remediation: string }>;
export type StoppedEvent = Envelope<
  'job_stopped',
  { status: JobStatus; reason: string; checks_performed: number; triggers_fired: number }
>;
export type JobEvent = StartedEvent | ProgressEvent | AlertEvent | SummaryEvent | ErrorEvent | StoppedEvent;

export type EventPage = { events: JobEvent[]; next_after: number; has_more: boolean };

export type Attempt = {
  time: string;
  status: number | null;
  latency_ms: number;
  error: string | null;
  resend: number;
};
export type Delivery = {
  sequence: number;
  type: string;
  state: 'pending' | 'delivered' | 'failed';
  resend: number;
  attempts: Attempt[];
  next_attempt_at: string | null;
  error: string | null;
};
export type DeliveryPage = {
  webhook_url: string | null;
  deliveries: Delivery[];
  next_after: number;
  has_more: boolean;
};

export type Metrics = {
  started_at: string;
  providers: Record<string, { calls: number; errors: number }>;
  jobs: { created: number; completed: number; failed: number };
  frames: { captured: number; skipped_prefilter: number };
  webhooks: { sent: number; failed: number };
};

export type Alarm = {
  name: string;
  state: 'ok' | 'alarm' | 'unknown';
  description: string;
  since: string | null;
};
/** `null` if the service has no alarms (embedded mode). */
export type AlarmList = { alarms: Alarm[] | null };

export type LogEntry = { time: string; level: LogLevel; message: string };
export type Logs = { total_in_buffer: number; returned: number; logs: LogEntry[] };

export type CheckRequest = {
  stream_url: string;
  condition: string;
  include_frame: boolean;
  input_mode: InputMode;
  clip_duration_seconds?: number;
};

export type MonitorRequest = {
  stream_url: string;
  condition: string;
  interval_seconds: number;
  input_mode: InputMode;
  clip_duration_seconds?: number;
  monitor_duration_seconds: number;
  trigger_cooldown_seconds: number;
  max_triggers: number | null;
  enable_prefilter: boolean;
  webhook_url?: string;
};

export type DigestRequest = {
  stream_url: string;
  window_minutes: number;
  capture_interval_seconds: number;
  max_windows: number | null;
  include_frames: boolean;
  enable_prefilter: boolean;
  webhook_url?: string;
};
