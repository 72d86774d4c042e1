/** Generated from the OpenAPI document by `npm run generate:client`: do not edit. */

export type InputMode = 'frames' | 'clip' | 'hybrid';
export type JobStatus = 'pending' | 'running' | 'stopped' | 'completed' | 'failed';
export type JobType = 'live-monitor' | 'live-digest';
export type Scope = 'jobs' | 'internal' | 'admin';
export type StopReason =
  | 'condition_triggered'
  | 'max_triggers_reached'
  | 'max_duration_reached'
  | 'max_windows_reached'
  | 'cancelled'
  | 'stream_ended'
  | 'stream_lost'
  | 'vlm_error'
  | 'internal_error';
/**
 * Branch on this, not on the message
 */
export type ErrorCode =
  | 'NOT_LIVESTREAM'
  | 'INVALID_URL'
  | 'STREAM_FETCH_FAILED'
  | 'BAD_REQUEST'
  | 'INVALID_INPUT_MODE'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'JOB_NOT_FOUND'
  | 'JOB_ALREADY_STOPPED'
  | 'PAYLOAD_TOO_LARGE'
  | 'REQUEST_TIMEOUT'
  | 'MAX_JOBS_REACHED'
  | 'RATE_LIMITED'
  | 'VLM_ERROR'
  | 'INTERNAL_ERROR';
export type JobConfig =
  | {
      condition: string;
      interval_seconds: number;
      input_mode: InputMode;
      clip_duration_seconds: number;
      monitor_duration_seconds: number;
      trigger_cooldown_seconds: number;
      max_triggers: number | null;
      enable_prefilter: boolean;
      /**
       * Where events are sent; a password in it is masked
       */
      webhook_url?: string;
    }
  | {
      window_minutes: number;
      capture_interval_seconds: number;
      max_windows: number | null;
      digest_duration_seconds: number;
      input_mode: 'frames';
      include_frames: boolean;
      enable_prefilter: boolean;
      /**
       * Where events are sent; a password in it is masked
       */
      webhook_url?: string;
    };
export type LoggedEvent = JobStarted | Progress | WatchTriggered | SummaryGenerated | ErrorEvent | JobStopped;
export type StreamedEvent =
  JobStarted | Progress | WatchTriggeredWithPicture | SummaryGeneratedWithPicture | ErrorEvent | JobStopped;
export type DeliveryState = 'pending' | 'delivered' | 'failed';
export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

export interface CheckOnceRequest {
  /**
   * A live stream: an RTSP URL, an HLS playlist, or the page of a live broadcast
   */
  stream_url: string;
  /**
   * What to look for, in plain words; it holds or it does not
   */
  condition: string;
  /**
   * Whether the answer has the frame that was looked at
   */
  include_frame?: boolean;
  input_mode?: InputMode;
  /**
   * Length of a clip; used with clip and hybrid
   */
  clip_duration_seconds?: number;
}
export interface AnalyzeFrameRequest {
  /**
   * A JPEG as raw base64, without a data: prefix
   */
  frame_b64: string;
  /**
   * What to tell about the picture, in plain words
   */
  question: string;
  /**
   * Whether the answer repeats the frame
   */
  include_frame?: boolean;
}
export interface ValidateStreamRequest {
  /**
   * A live stream: an RTSP URL, an HLS playlist, or the page of a live broadcast
   */
  stream_url: string;
  /**
   * Whether the answer has a picture of a live stream
   */
  include_frame?: boolean;
}
export interface MonitorRequest {
  /**
   * A live stream: an RTSP URL, an HLS playlist, or the page of a live broadcast
   */
  stream_url: string;
  /**
   * What to look for, in plain words; it holds or it does not
   */
  condition: string;
  webhook_url?: string | null;
  /**
   * Seconds from one check to the next
   */
  interval_seconds?: number;
  input_mode?: InputMode;
  /**
   * Length of a clip; used with clip and hybrid
   */
  clip_duration_seconds?: number;
  /**
   * How long to watch; clamped to the cap of the server, visible in config
   */
  monitor_duration_seconds?: number;
  /**
   * Least seconds from one alert to the next
   */
  trigger_cooldown_seconds?: number;
  /**
   * After how many alerts the job is done; null: not before its duration is over
   */
  max_triggers?: number | null;
  /**
   * Whether the model is spared captures in which nothing moved
   */
  enable_prefilter?: boolean;
}
export interface DigestRequest {
  /**
   * A live stream: an RTSP URL, an HLS playlist, or the page of a live broadcast
   */
  stream_url: string;
  /**
   * Minutes that one summary covers
   */
  window_minutes?: number;
  webhook_url?: string | null;
  /**
   * Seconds from one sample to the next
   */
  capture_interval_seconds?: number;
  /**
   * After how many summaries the job is done; null: when its duration is over
   */
  max_windows?: number | null;
  /**
   * Whether summaries carry the samples as one picture
   */
  include_frames?: boolean;
  /**
   * Whether samples in which nothing moved are left out
   */
  enable_prefilter?: boolean;
}
export interface WebhookTestRequest {
  /**
   * Where events are sent by HTTP POST
   */
  webhook_url: string;
}
export interface KeyRequest {
  caller?: string;
  /**
   * @minItems 1
   * @maxItems 3
   */
  scopes?: Scope[];
  label?: string | null;
}
export interface KeyLabel {
  label: string | null;
}
export interface CallerRequest {
  caller: string;
  label?: string | null;
}
export interface Gap {
  from: string;
  to: string;
  reason: 'stream' | 'stale' | 'model' | 'service';
}
export interface ErrorEnvelope {
  error: {
    code: ErrorCode;
    /**
     * What happened
     */
    message: string;
    /**
     * What to do about it
     */
    remediation: string;
  };
}
export interface ValidationErrors {
  detail: {
    /**
     * Where: body, query, path or header, then names and indexes
     */
    loc: (string | number)[];
    msg: string;
    /**
     * Kind of mistake, such as missing, int_parsing or string_too_long
     */
    type: string;
    /**
     * What was sent, shortened and without secrets
     */
    input?: unknown;
    /**
     * The limit that was passed, by its name
     */
    ctx?: {
      [k: string]: unknown;
    };
  }[];
}
export interface CheckOnceResponse {
  /**
   * Whether the condition holds
   */
  triggered: boolean;
  /**
   * Why, tied to what is visible
   */
  explanation: string;
  /**
   * Milliseconds from the request to its answer
   */
  latency_ms: number;
  /**
   * JPEG as base64, without a data: prefix
   */
  frame_b64?: string;
}
export interface AnalyzeFrameResponse {
  answer: string;
  /**
   * The answer to a yes/no question; null where it is open
   */
  triggered: boolean | null;
  /**
   * Milliseconds from the request to its answer
   */
  latency_ms: number;
  /**
   * The frame as it was sent; null unless include_frame asked for it
   */
  frame_b64: string | null;
}
export interface StreamValidation {
  is_live: boolean;
  platform: 'youtube' | 'twitch' | 'rtsp' | 'hls';
  stream_id?: string;
  title?: string;
  channel?: string;
  thumbnail_url?: string;
  viewer_count?: number;
  /**
   * Playback URL, without credentials
   */
  parsed_url?: string;
  /**
   * A picture of the live stream, where include_frame asked for it and one could be taken
   */
  frame_b64?: string;
  /**
   * Why the stream cannot be watched now
   */
  error_hint?: string;
}
export interface JobStats {
  reason?: StopReason;
  /**
   * Of a failed job
   */
  error?: {
    code: string;
    message: string;
    remediation: string;
  };
  /**
   * True for max_duration_reached: start a new job to keep watching
   */
  auto_stopped: boolean;
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
  /**
   * Windows that have their summary, of a digest
   */
  windows_summarized?: number;
  /**
   * The number of the newest check
   */
  last_check: number;
  watch_duration_seconds: number;
  started_at: string | null;
  ended_at: string | null;
  next_check_at: string | null;
  /**
   * When the newest picture was taken: GET /jobs/{job_id}/frame
   */
  last_frame_at: string | null;
  /**
   * How much of the time was watched
   */
  coverage: {
    ratio: number;
    watched_seconds: number;
    gap_seconds: number;
    /**
     * The newest 20
     */
    gaps: Gap[];
  };
  /**
   * The newest 50 alerts, of a monitor
   */
  triggers?: WatchTriggered[];
  /**
   * The newest 50 summaries, of a digest
   */
  summaries?: SummaryGenerated[];
  /**
   * Deliveries, for a job with webhook_url
   */
  webhook?: {
    delivered: number;
    pending: number;
    failed: number;
    /**
     * The newest 10
     */
    failures: {
      /**
       * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
       */
      sequence: number;
      type: string;
      attempts: number;
      message: 'Failed to deliver webhook';
      error: string | null;
    }[];
  };
}
export interface WatchTriggered {
  type: 'watch_triggered';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    condition: string;
    triggered: true;
    explanation: string;
    prefilter_skipped: boolean;
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    captured_at: string;
    triggers_fired: number;
    /**
     * The evidence picture: GET it with your key, while the job is kept
     */
    frame_url: string;
  };
}
export interface SummaryGenerated {
  type: 'summary_generated';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    /**
     * From 1 on
     */
    window_index: number;
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    window_start: string;
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    window_end: string;
    /**
     * True where the job ended before the window did
     */
    partial: boolean;
    /**
     * What happened in the window
     */
    summary: string;
    frames_captured: number;
    frames_skipped: number;
    /**
     * When the stream was not seen
     */
    gaps: Gap[];
    /**
     * The evidence picture: GET it with your key, while the job is kept
     */
    frame_grid_url?: string;
  };
}
export interface JobSummary {
  job_id: string;
  status: JobStatus;
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  created_at: string;
  /**
   * The stream URL; a password in it is masked
   */
  stream_url: string;
  job_type: JobType;
  details:
    | {
        condition: string;
        interval_seconds: number;
        input_mode: InputMode;
        clip_duration_seconds: number;
        monitor_duration_seconds: number;
        trigger_cooldown_seconds: number;
        max_triggers: number | null;
        enable_prefilter: boolean;
        /**
         * Where events are sent; a password in it is masked
         */
        webhook_url?: string;
        /**
         * How events reach the caller
         */
        delivery: 'polling' | 'webhook';
        /**
         * Why the job ended; null while it is active
         */
        reason: StopReason | null;
      }
    | {
        window_minutes: number;
        capture_interval_seconds: number;
        max_windows: number | null;
        digest_duration_seconds: number;
        input_mode: 'frames';
        include_frames: boolean;
        enable_prefilter: boolean;
        /**
         * Where events are sent; a password in it is masked
         */
        webhook_url?: string;
        /**
         * How events reach the caller
         */
        delivery: 'polling' | 'webhook';
        /**
         * Why the job ended; null while it is active
         */
        reason: StopReason | null;
      };
  /**
   * What to do next; in the answer to a creation
   */
  message?: string;
}
export interface JobDetail {
  job_id: string;
  status: JobStatus;
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  created_at: string;
  /**
   * The stream URL; a password in it is masked
   */
  stream_url: string;
  job_type: JobType;
  config: JobConfig;
  stats: JobStats;
}
export interface JobList {
  /**
   * Newest first
   */
  jobs: JobSummary[];
  /**
   * How many jobs match, on all pages
   */
  total: number;
  limit: number;
  offset: number;
}
export interface CancelledJob {
  job_id: string;
  status: JobStatus;
  message: string;
  final_stats: {
    reason?: StopReason;
    /**
     * Of a failed job
     */
    error?: {
      code: string;
      message: string;
      remediation: string;
    };
    /**
     * True for max_duration_reached: start a new job to keep watching
     */
    auto_stopped: boolean;
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
    /**
     * Windows that have their summary, of a digest
     */
    windows_summarized?: number;
    /**
     * The number of the newest check
     */
    last_check: number;
    watch_duration_seconds: number;
    started_at: string | null;
    ended_at: string | null;
    next_check_at: string | null;
    /**
     * When the newest picture was taken: GET /jobs/{job_id}/frame
     */
    last_frame_at: string | null;
    /**
     * How much of the time was watched
     */
    coverage: {
      ratio: number;
      watched_seconds: number;
      gap_seconds: number;
      /**
       * The newest 20
       */
      gaps: Gap[];
    };
  };
}
export interface JobStarted {
  type: 'job_started';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    job_type: JobType;
    status: JobStatus;
    config: JobConfig;
    /**
     * The log of the job, as JSON or as server-sent events
     */
    events_url: string;
  };
}
export interface Progress {
  type: 'progress';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    /**
     * The number of this check
     */
    check: number;
    checks_performed: number;
    frames_skipped: number;
    triggers_fired: number;
    /**
     * null where the model gave no verdict
     */
    triggered: boolean | null;
    /**
     * True where nothing moved and the model was not asked
     */
    prefilter_skipped: boolean;
    /**
     * Share of the picture that changed
     */
    motion: number | null;
    explanation: string;
    captured_at: string | null;
    stream: 'ok' | 'stale' | 'reconnecting';
    picture: ('ok' | 'frozen' | 'black' | 'repeated') | null;
    next_check_at: string | null;
  };
}
export interface WatchTriggeredWithPicture {
  type: 'watch_triggered';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    condition: string;
    triggered: true;
    explanation: string;
    prefilter_skipped: boolean;
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    captured_at: string;
    triggers_fired: number;
    /**
     * The evidence picture as base64 JPEG; null where it is no longer kept
     */
    frame_b64: string | null;
  };
}
export interface SummaryGeneratedWithPicture {
  type: 'summary_generated';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    /**
     * From 1 on
     */
    window_index: number;
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    window_start: string;
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    window_end: string;
    /**
     * True where the job ended before the window did
     */
    partial: boolean;
    /**
     * What happened in the window
     */
    summary: string;
    frames_captured: number;
    frames_skipped: number;
    /**
     * When the stream was not seen
     */
    gaps: Gap[];
    /**
     * The pictures of the window side by side, as base64 JPEG; where include_frames asked for it
     */
    frame_grid_b64?: string | null;
  };
}
export interface ErrorEvent {
  type: 'error';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    code: ErrorCode;
    message: string;
    remediation: string;
  };
}
export interface JobStopped {
  type: 'job_stopped';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The stream URL; a password in it is masked
   */
  source_url: string;
  data: {
    job_id: string;
    /**
     * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
     */
    sequence: number;
    status: JobStatus;
    reason: StopReason;
    checks_performed: number;
    triggers_fired: number;
    frames_skipped: number;
    /**
     * True for max_duration_reached: start a new job to keep watching
     */
    auto_stopped: boolean;
    watch_duration_seconds: number;
  };
}
export interface EventPage {
  job_id: string;
  status: JobStatus;
  /**
   * In order
   */
  events: LoggedEvent[];
  /**
   * Send it as after to read on
   */
  next_after: number;
  has_more: boolean;
}
export interface TestEvent {
  type: 'test';
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  timestamp: string;
  /**
   * The base URL of this service
   */
  source_url: string;
  data: {
    message: string;
  };
}
export interface Delivery {
  /**
   * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
   */
  sequence: number;
  type: string;
  state: DeliveryState;
  /**
   * How often it was sent again
   */
  resend: number;
  /**
   * Oldest first
   */
  attempts: {
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    time: string;
    /**
     * HTTP status; null where none came
     */
    status: number | null;
    latency_ms: number;
    error: string | null;
    /**
     * 0 for the first sending, else the number of the resend
     */
    resend: number;
  }[];
  next_attempt_at: string | null;
  error: string | null;
}
export interface DeliveryPage {
  job_id: string;
  /**
   * A password in it is masked; null for a job without a webhook
   */
  webhook_url: string | null;
  /**
   * In order
   */
  deliveries: Delivery[];
  /**
   * Send it as after to read on
   */
  next_after: number;
  has_more: boolean;
}
export interface Resend {
  job_id: string;
  /**
   * Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.
   */
  sequence: number;
  type: string;
  resend: number;
  message: string;
}
export interface WebhookTest {
  /**
   * HTTP status of the receiver; null where no answer came
   */
  status: number | null;
  latency_ms: number;
  /**
   * null where the receiver answered with 2xx
   */
  error: string | null;
}
export interface WebhookSecret {
  /**
   * What receivers verify signatures with, whsec_…
   */
  secret: string;
  version: number;
  /**
   * Until when events are signed with an earlier secret too
   */
  previous_valid_until: string | null;
}
export interface Key {
  /**
   * SHA-256 of the key: it names the key and opens nothing
   */
  key_id: string;
  /**
   * How its text begins
   */
  prefix: string;
  caller: string;
  scopes: Scope[];
  label: string | null;
  /**
   * The key_id of the key that made it; null where no key did, or none that is known
   */
  created_by: string | null;
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  created_at: string;
  /**
   * To the minute
   */
  last_used_at: string | null;
  /**
   * From when it is refused; null while it is good
   */
  revoked_at: string | null;
}
export interface KeyList {
  /**
   * Oldest first
   */
  keys: Key[];
  /**
   * Send it as after for the next page; null on the last
   */
  next_after: string | null;
}
export interface NewKey {
  /**
   * SHA-256 of the key: it names the key and opens nothing
   */
  key_id: string;
  /**
   * How its text begins
   */
  prefix: string;
  caller: string;
  scopes: Scope[];
  label: string | null;
  /**
   * The key_id of the key that made it; null where no key did, or none that is known
   */
  created_by: string | null;
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  created_at: string;
  /**
   * To the minute
   */
  last_used_at: string | null;
  /**
   * From when it is refused; null while it is good
   */
  revoked_at: string | null;
  /**
   * The key itself, shown this once: only its hash is stored
   */
  key: string;
}
export interface RevokedKey {
  /**
   * SHA-256 of the key: it names the key and opens nothing
   */
  key_id: string;
  /**
   * How its text begins
   */
  prefix: string;
  caller: string;
  scopes: Scope[];
  label: string | null;
  /**
   * The key_id of the key that made it; null where no key did, or none that is known
   */
  created_by: string | null;
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  created_at: string;
  /**
   * To the minute
   */
  last_used_at: string | null;
  /**
   * From when it is refused; null while it is good
   */
  revoked_at: string | null;
  /**
   * The keys that ended with it, where descendants was asked for
   */
  descendants?: Key[];
}
export interface RotatedKey {
  /**
   * SHA-256 of the key: it names the key and opens nothing
   */
  key_id: string;
  /**
   * How its text begins
   */
  prefix: string;
  caller: string;
  scopes: Scope[];
  label: string | null;
  /**
   * The key_id of the key that made it; null where no key did, or none that is known
   */
  created_by: string | null;
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  created_at: string;
  /**
   * To the minute
   */
  last_used_at: string | null;
  /**
   * From when it is refused; null while it is good
   */
  revoked_at: string | null;
  /**
   * The key itself, shown this once: only its hash is stored
   */
  key: string;
  replaces: RevokedKey;
}
export interface Caller {
  caller: string;
  label: string | null;
  /**
   * ISO 8601 in UTC, with milliseconds
   */
  created_at: string;
}
export interface CallerList {
  /**
   * By name
   */
  callers: Caller[];
  /**
   * Send it as after for the next page; null on the last
   */
  next_after: string | null;
}
export interface Metrics {
  /**
   * Since when the counters count
   */
  started_at: string;
  /**
   * Calls of the vision model, by provider
   */
  providers: {
    [k: string]: {
      calls: number;
      errors: number;
    };
  };
  jobs: {
    created: number;
    completed: number;
    failed: number;
  };
  frames: {
    /**
     * Captures shown to the model
     */
    captured: number;
    /**
     * Captures that the pre-filter kept from the model
     */
    skipped_prefilter: number;
  };
  webhooks: {
    sent: number;
    failed: number;
  };
}
export interface Alarms {
  /**
   * null where nothing watches the service from outside: on one machine
   */
  alarms:
    | {
        name: string;
        state: 'ok' | 'alarm' | 'unknown';
        description: string;
        since: string | null;
      }[]
    | null;
}
export interface Logs {
  total_in_buffer: number;
  returned: number;
  logs: {
    /**
     * ISO 8601 in UTC, with milliseconds
     */
    time: string;
    level: LogLevel;
    /**
     * With the prefix [JOB:<first 8 characters of the job id>] where it concerns a job
     */
    message: string;
  }[];
}
