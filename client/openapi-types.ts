/** Generated from the OpenAPI document by `npm run generate -- client`: do not edit. */

export type InputMode = 'frames' | 'clip' | 'hybrid';
export type Severity = 'info' | 'warning' | 'critical';
export type AlertOn = 'each_visit' | 'each_stay' | 'by_checks';
export type WatchEvent =
  | {
      type: 'alert_opened';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        alert_id: string;
        condition_id: string;
        condition: string;
        severity: Severity;
        opened_at: string;
        explanation: string;
        checks: {
          checked_at: string;
          triggered: boolean;
        }[];
        boxes?: EvidenceBox[];
        /** Version of the prompt; absent from built-in models */
        prompt_version?: string;
        ended?: true;
        open_seconds?: number;
        /** Seconds for which pictures showed it: from the first of the opening to the last */
        seen_seconds?: number;
        lost_seconds?: number;
        /** Duration from which a visit is sure to be seen and confirmed */
        shortest_visit_seconds?: number;
        /**
         * URL of the evidence; requires the API key, except in what destinations receive: that link is signed and valid for a week. null if no frame was left
         */
        frame_url: string | null;
      };
    }
  | {
      type: 'alert_reminder';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        alert_id: string;
        condition_id: string;
        condition: string;
        severity: Severity;
        opened_at: string;
        open_seconds: number;
        explanation: string;
        /**
         * URL of the evidence; requires the API key, except in what destinations receive: that link is signed and valid for a week. null if no frame was left
         */
        frame_url: string | null;
      };
    }
  | {
      type: 'alert_acknowledged';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        alert_id: string;
        condition_id: string;
        condition: string;
        severity: Severity;
        opened_at: string;
        by: string;
      };
    }
  | {
      type: 'alert_closed';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        alert_id: string;
        condition_id: string;
        condition: string;
        severity: Severity;
        opened_at: string;
        closed_at: string;
        open_seconds: number;
        /** Seconds for which pictures showed it: from the first of the opening to the last */
        seen_seconds: number;
        reason: 'cleared' | 'paused' | 'off_schedule' | 'changed' | 'removed' | 'deleted';
        explanation: string;
        /**
         * URL of the evidence; requires the API key, except in what destinations receive: that link is signed and valid for a week. null if no frame was left
         */
        frame_url: string | null;
      };
    }
  | {
      type: 'alert_clip';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        alert_id: string;
        condition_id: string;
        condition: string;
        severity: Severity;
        opened_at: string;
        /** Time of its first picture */
        from: string | null;
        /** Time of its end */
        to: string | null;
        bytes: number | null;
        /** Sample entry of MP4, as avc1 or hvc1 */
        codec: string | null;
        /** Why the alert has no clip; null if it has one */
        reason: string | null;
        /** URL of the clip, as frame_url; null without one, for the reason */
        clip_url: string | null;
      };
    }
  | {
      type: 'stream_lost';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        reason: 'unreachable' | 'damaged' | 'stale' | 'access_refused' | 'not_live' | 'frozen' | 'black';
        lost_seconds: number;
        open_alerts: string[];
      };
    }
  | {
      type: 'stream_recovered';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        reason: 'unreachable' | 'damaged' | 'stale' | 'access_refused' | 'not_live' | 'frozen' | 'black';
        lost_seconds: number;
        open_alerts: string[];
        ended_by?: 'paused' | 'deleted' | 'changed';
      };
    }
  | {
      type: 'watch_changed';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        status: WatchStatus;
        reason:
          | 'created'
          | 'deleted'
          | 'paused'
          | 'resumed'
          | 'changed'
          | 'schedule_began'
          | 'schedule_ended'
          | 'budget_warning'
          | 'budget_exhausted'
          | 'budget_renewed'
          | 'model_without_price'
          | 'checks_late'
          | 'checks_in_time'
          | 'destination_failed'
          | 'destination_recovered'
          | 'model_failed'
          | 'model_recovered'
          | 'view_changed'
          | 'view_restored'
          | 'unsure_sightings';
        destination_id?: string;
        ended_by?: 'paused' | 'deleted' | 'changed';
        removed_conditions?: string[];
        error?: string;
        late_seconds?: number;
        unsure_sightings?: {
          condition_id: string;
          condition: string;
          sightings: number;
        }[];
      };
    }
  | {
      type: 'progress';
      /** UTC, with milliseconds */
      timestamp: string;
      /** Stream URL with masked password */
      source_url: string;
      data: {
        watch_id: string;
        watch_name: string;
        /** Position in the log, from 1 without gaps; a repetition has the same */
        sequence: number;
        labels: string[];
        check: number;
        conditions: {
          condition_id: string;
          triggered: boolean | null;
          state: 'unknown' | 'clear' | 'open';
          explanation: string;
        }[];
        prefilter_skipped: boolean;
        motion: number | null;
        explanation: string;
        captured_at: string | null;
        stream: 'ok' | 'stale' | 'reconnecting';
        picture: ('ok' | 'frozen' | 'black' | 'repeated') | null;
        next_check_at: string | null;
        /** Earlier moments that the model judged beside the newest frame; absent without any */
        moments_judged?: number;
      };
    };
export type WatchStatus = 'paused' | 'off_schedule' | 'budget_exhausted' | 'stream_lost' | 'active';
export type JobStatus = 'pending' | 'running' | 'stopped' | 'completed' | 'failed';
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
export type ChangedWatch = Watch & {
  /** Parts of its conditions that the model does not judge; absent: it judges all */
  not_judged?: {
    condition_id: string;
    /** Doubts about the condition, each with a remedy; empty without doubts */
    findings: Finding[];
  }[];
  /**
   * After a change that removes destinations or gives them another address: what each was notified of that still stands. It receives nothing more
   */
  former_destinations?: {
    destination_id: string;
    url_masked: string;
    /** Ids of open alerts whose opening it accepted */
    open_alerts: string[];
    /** True if it accepted the report of a lost stream */
    stream_lost: boolean;
    /**
     * Why incidents of PagerDuty were not resolved, or entities of a broker not removed; null if they were, and for other types
     */
    error: string | null;
  }[];
};
export type DestinationType =
  | 'webhook'
  | 'slack'
  | 'discord'
  | 'ntfy'
  | 'telegram'
  | 'pagerduty'
  | 'email'
  | 'mqtt'
  | 'heartbeat';
export type Notify = 'openings' | 'openings_and_closings' | 'everything';
export type DeliveryState = 'pending' | 'delivered' | 'failed';
export type WebhookEventType =
  | 'job_started'
  | 'watch_triggered'
  | 'summary_generated'
  | 'error'
  | 'job_stopped';
export type DigestDetails = DigestConfig & {
  /** Delivery mode of events */
  delivery: 'polling' | 'webhook';
  /** Reason of the job's end; null for an active job */
  reason: StopReason | null;
};
/** Error code; branch on it, not on the message */
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
  | 'WATCH_NOT_FOUND'
  | 'ALERT_NOT_FOUND'
  | 'PRECONDITION_FAILED'
  | 'MAX_WATCHES_REACHED'
  | 'PAYLOAD_TOO_LARGE'
  | 'REQUEST_TIMEOUT'
  | 'MAX_JOBS_REACHED'
  | 'RATE_LIMITED'
  | 'SERVICE_OVERLOADED'
  | 'VLM_ERROR'
  | 'INTERNAL_ERROR';
export type LoggedEvent = JobStarted | Progress | WatchTriggered | SummaryGenerated | ErrorEvent | JobStopped;
export type JobType = 'live-monitor' | 'live-digest';
export type JobConfig = MonitorConfig | DigestConfig;
export type JobStats = FinalStats & {
  /** Differences between the request and the job: limits, ignored fields, conditions that fit no check */
  notices: string[];
  /** Newest 50 alerts; monitors only */
  triggers?: WatchTriggered[];
  /** Newest 50 summaries; digests only */
  summaries?: SummaryGenerated[];
  /** Deliveries of a job with webhook_url */
  webhook?: {
    delivered: number;
    pending: number;
    failed: number;
    /** Newest 10 failures */
    failures: {
      /** Position in the log, from 1 without gaps; a repetition has the same */
      sequence: number;
      type: string;
      attempts: number;
      message: 'Failed to deliver webhook';
      error: string | null;
    }[];
  };
};
export type JobDetails = MonitorDetails | DigestDetails;
export type MonitorDetails = MonitorConfig & {
  /** Delivery mode of events */
  delivery: 'polling' | 'webhook';
  /** Reason of the job's end; null for an active job */
  reason: StopReason | null;
};
export type Scope = 'read' | 'jobs' | 'keys' | 'internal' | 'admin';
export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';
export type NewKey = Key & {
  /** Text of the key, returned only once: only its hash is stored */
  key: string;
};
export type RevokedKey = Key & {
  /** Descendants revoked with the key; absent unless requested */
  descendants?: Key[];
};
export type RotatedKey = Key & {
  /** Text of the key, returned only once: only its hash is stored */
  key: string;
} & {
  replaces: RevokedKey;
};
export type StreamedEvent =
  | JobStarted
  | Progress
  | WatchTriggeredWithPicture
  | SummaryGeneratedWithPicture
  | ErrorEvent
  | JobStopped;
export type StreamedWatchEvent =
  | {
      type: 'state';
      /** UTC, with milliseconds */
      timestamp: string;
      data: {
        watches: Watch[];
      };
    }
  | WatchEvent;

export interface ActiveSpan {
  days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
  from: string;
  to: string;
}
export interface ActiveSpanRequest {
  /**
   * @minItems 1
   * @maxItems 7
   */
  days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
  from: string;
  /** End of the span; before from: on the next day */
  to: string;
}
export interface Advice {
  /** Doubts about the condition, each with a remedy; empty without doubts */
  findings: Finding[];
  suggestion: {
    /** Clearer wording, or the parts of several conditions in one; null: keep the wording */
    conditions: string[] | null;
    /** Seconds between checks */
    interval_seconds: number;
    input_mode: InputMode;
    /** Verdicts of checks_considered that must hold to open an alert of a watch */
    checks_to_open: number;
    checks_considered: number;
    /** Seconds for which the condition of a watch must have held, if the text names a time; else 0 */
    open_after_seconds: number;
    /** Spans for the schedule of a watch, if the condition names times; add the time zone */
    active: ActiveSpan[] | null;
  };
  /** Cost of one stream with this condition, all day */
  forecast: Forecast & {
    model: string;
    with_look_back: Forecast;
  };
}
export interface Finding {
  code:
    | 'blank'
    | 'instruction'
    | 'question'
    | 'vague'
    | 'several_conditions'
    | 'needs_clip'
    | 'duration'
    | 'time_of_day'
    | 'no_memory'
    | 'identity'
    | 'negation'
    | 'long'
    | 'model_cannot_judge'
    | 'place_not_judged'
    | 'counts_as_any'
    | 'words_not_judged'
    | 'sensitivity_ignored';
  message: string;
}
export interface Forecast {
  /** Calls of the interval, if the pre-filter skips nothing; frames and dollars are theirs */
  model_calls_per_day: number;
  /**
   * Upper bound: a check every second, as confirming ones are with the shortest confirm_seconds; half with the default of 2 s
   */
  max_model_calls_per_day: number;
  /** Frames that the model gets, besides clips */
  frames_per_day: number;
  /** US dollars by list prices; 0 for a local model, null if the price is not known */
  usd_per_day: number | null;
  usd_per_month: number | null;
  /** Price of max_model_calls_per_day */
  max_usd_per_day: number | null;
  /** Duration from which a watch is sure to see a visit, if the stream has a key frame every 2 s */
  shortest_visit_seconds: number;
}
export interface AdviseRequest {
  /** Sentence that is true or false of the stream */
  condition: string;
  /** Seconds between checks for the forecast; default: the suggested ones */
  interval_seconds?: number;
  /** Sensitivity of the condition; default: normal */
  sensitivity?: 'normal' | 'high';
  input_mode?: InputMode;
}
export interface Alarms {
  /** null if the service has no alarms (embedded mode) */
  alarms:
    | {
        name: string;
        state: 'ok' | 'alarm' | 'unknown';
        description: string;
        since: string | null;
      }[]
    | null;
}
export interface Alert {
  alert_id: string;
  watch_id: string;
  watch_name: string;
  condition_id: string;
  condition: string;
  severity: Severity;
  labels: string[];
  opened_at: string;
  seen_from?: string;
  explanation: string;
  checks: {
    checked_at: string;
    triggered: boolean;
  }[];
  boxes?: EvidenceBox[];
  /** Version of the prompt; absent from built-in models */
  prompt_version?: string;
  lost_seconds?: number;
  reminders: number;
  acknowledged: {
    at: string;
    by: string;
  } | null;
  review: {
    correct: boolean;
    note: string;
    at: string;
    by: string;
  } | null;
  state: 'open' | 'closed';
  open_seconds: number;
  closed: {
    at: string;
    reason: 'cleared' | 'paused' | 'off_schedule' | 'changed' | 'removed' | 'deleted';
    explanation: string;
    open_seconds: number;
    /** Seconds for which pictures showed it: from the first of the opening to the last */
    seen_seconds: number;
  } | null;
  /** URL of the evidence; requires the API key. null if no frame was left */
  frame_url: string | null;
  /** Film around the opening; null before it is ready, and without evidence_clip */
  clip: {
    /** Time of its first picture */
    from: string | null;
    /** Time of its end */
    to: string | null;
    bytes: number | null;
    /** Sample entry of MP4, as avc1 or hvc1 */
    codec: string | null;
    /** Why the alert has no clip; null if it has one */
    reason: string | null;
    /** URL of the clip; requires the API key. null without one */
    clip_url: string | null;
  } | null;
  /** null while the alert is open */
  expires_at: string | null;
}
/** x, y, width and height: shares of the image */
export interface EvidenceBox {
  label: string;
  /** Rank of the detection; not a probability */
  score: number;
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface AlertList {
  /** Newest first */
  alerts: Alert[];
  /** Value of after for the next page; null on the last */
  next_after: string | null;
}
export interface AllWatchEventsPage {
  /** Events of all watches, ordered by time */
  events: WatchEvent[];
  /** Value of after for the next page */
  next_after: string;
  has_more: boolean;
}
export interface AnalyzeFrameRequest {
  /** JPEG as raw base64, without a data: prefix */
  frame_b64: string;
  /** Question about the image, in plain words */
  question: string;
  /** True to include the frame in the response */
  include_frame?: boolean;
}
export interface AnalyzeFrameResponse {
  answer: string;
  /** Answer to a yes/no question; null for an open question */
  triggered: boolean | null;
  /** False if the model could not judge the yes/no question, see answer; absent otherwise */
  judged?: false;
  /** Duration of the request in milliseconds */
  latency_ms: number;
  /** Frame of the request; null unless include_frame is true */
  frame_b64: string | null;
}
export interface AskRequest {
  /**
   * Default: all your watches
   *
   * @minItems 1
   * @maxItems 100
   */
  watch_ids?: string[];
  /** Default: all that is remembered */
  from?: string;
  /** Default: now */
  to?: string;
  /** "When was the last delivery, and did anybody take it?" */
  question: string;
}
export interface AskResult {
  /** False if the memory does not answer the question */
  answered: boolean;
  /** The statements, or the reason without any */
  answer: string;
  statements: {
    text: string;
    /** Moments that show it */
    moments: Moment[];
  }[];
  /** Value of to that lists the visits before those of the statements; null if it has all */
  next_to: string | null;
  /** The pictures that were searched, and the gaps of the span */
  sentence: string;
  /** UTC, with milliseconds */
  from: string;
  /** UTC, with milliseconds */
  to: string;
  /** Pictures that the model was shown */
  pictures: number;
  model_calls: number;
  /** By list price; null: unknown */
  cost_usd: number | null;
}
export interface Moment {
  scene?: string;
  /** @maxItems 12 */
  objects?: string[];
  moment_id: string;
  watch_id: string;
  at: string;
  verdicts: {
    condition_id: string;
    triggered: boolean | null;
    explanation: string;
  }[];
  judged_by: string;
  unmoved?: true;
  unchanged_seconds?: number;
  /** @maxItems 8 */
  reviews?: {
    condition_id: string;
    condition: string;
    holds: boolean;
    missed: boolean;
    at: string;
    by: string;
  }[];
  expires_at: string;
  /** Judged picture; requires the API key. null: gone */
  picture_url: string | null;
}
export interface BacktestAlert {
  condition_id: string;
  condition: string;
  /** UTC, with milliseconds */
  opened_at: string;
  closed_at: string | null;
  explanation: string;
  picture_url: string | null;
  /** The first 12 in which it holds */
  moments: {
    moment_id: string;
    /** UTC, with milliseconds */
    at: string;
    picture_url: string | null;
  }[];
}
export interface BacktestRequest {
  /**
   * Conditions to try; default: those of the watch
   *
   * @minItems 1
   * @maxItems 8
   */
  conditions?: ConditionRequest[];
  /** Default: all that is remembered */
  from?: string;
  /** Default: now */
  to?: string;
  /** Maximum model calls of the backtest, with those of earlier responses */
  max_calls?: number;
  /** True to return only what it would cost */
  estimate?: boolean;
  /** next_cursor of the response before, with an unchanged body */
  cursor?: string;
}
export interface ConditionRequest {
  /** Unique in the watch; assigned if missing */
  condition_id?: string;
  /** Sentence that is true or false of the stream */
  condition: string;
  /** Verdicts of the last checks_considered that must hold to open */
  checks_to_open?: number;
  /** Verdicts considered to open */
  checks_considered?: number;
  /** Seconds for which it must have held before an alert opens; checks_to_close denials in a row restart them */
  open_after_seconds?: number;
  alert_on?: AlertOn;
  /** by_checks: consecutive verdicts that do not hold, after which the alert closes; default 3 */
  checks_to_close?: number;
  /** Seconds for which the condition must not have held before the alert closes; default 0, of each_stay 30 */
  close_after_seconds?: number;
  /** Minimum seconds from one opening to the next */
  cooldown_seconds?: number;
  /** Seconds between reminders of an open alert; null: none */
  remind_seconds?: number | null;
  severity?: Severity;
  /** high: objects count that the built-in object model is not sure of; other models ignore it */
  sensitivity?: 'normal' | 'high';
}
export interface BacktestResult {
  /** The time that was played, and the gaps in it */
  sentence: string;
  /** Alerts since the response before that ended, or are open at the end */
  alerts: BacktestAlert[];
  /** Alerts that are open where this response ends */
  open: BacktestAlert[];
  /** Openings that lacked only a confirming picture */
  possible: BacktestAlert[];
  /** Send it as cursor to continue; null at the end */
  next_cursor: string | null;
  /** Why it ends early: 25 s are over, max_calls used up, or the model failed */
  stopped: ('time' | 'calls' | 'model') | null;
  /** UTC, with milliseconds */
  from: string;
  /** UTC, with milliseconds */
  to: string;
  /** End of what was played */
  played_to: string;
  /** Moments that were played */
  moments: number;
  /** Those that need a verdict and have no picture */
  without_picture: number;
  /** Verdicts that the model could not give */
  not_judged: number;
  model_calls: number;
  /** By list price; null: unknown */
  cost_usd: number | null;
  /** Needs of the whole backtest */
  estimate: {
    moments: number;
    model_calls: number;
    /** By list price; null: unknown */
    cost_usd: number | null;
    /** False if it is extrapolated */
    exact: boolean;
  };
}
export interface Budget {
  model_calls_per_day: number | null;
  usd_per_day: number | null;
}
export interface Caller {
  caller: string;
  label: string | null;
  /** UTC, with milliseconds */
  created_at: string;
}
export interface CallerList {
  /** Ordered by name */
  callers: Caller[];
  /** Value of after for the next page; null on the last page */
  next_after: string | null;
}
export interface CallerRequest {
  caller: string;
  label?: string | null;
}
export interface CameraList {
  cameras: {
    /** Address for POST /cameras/streams: host, port if it is not 80, and path if it is unusual */
    address: string;
    /** Name that the camera states */
    name: string | null;
    /** Model that the camera states */
    hardware: string | null;
  }[];
  /** Allowed ranges, in which cameras were asked */
  ranges: string[];
  /** Other addresses that answered; at most 8 */
  outside: string[];
}
export interface CameraStreams {
  profiles: {
    name: string;
    /** Video codec that the camera states, such as H264 */
    codec: string | null;
    width: number | null;
    height: number | null;
    /** RTSP address without user name and password; null: none */
    stream_url: string | null;
    /** Address of a JPEG without user name and password; null: none */
    snapshot_url: string | null;
  }[];
  /** By how many seconds the clock of the camera is ahead; null: unknown */
  clock_offset_seconds: number | null;
}
export interface CameraStreamsRequest {
  /** Address from GET /cameras, or host and port of a camera */
  address: string;
  /** User of the camera; empty: none */
  username?: string;
  /** Its password: sent as a digest to this camera only, and neither stored nor logged */
  password?: string;
}
export interface CancelledJob {
  job_id: string;
  status: JobStatus;
  message: string;
  final_stats: FinalStats;
}
export interface FinalStats {
  reason?: StopReason;
  error?: Failure;
  /** True for max_duration_reached: start a new job to continue */
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
  /** Number of windows with a summary; digests only */
  windows_summarized?: number;
  /** Number of the newest check */
  last_check: number;
  watch_duration_seconds: number;
  started_at: string | null;
  ended_at: string | null;
  next_check_at: string | null;
  /** Capture time of the newest frame, which GET /jobs/{job_id}/frame returns; null before the first */
  last_frame_at: string | null;
  coverage: Coverage;
}
export interface Failure {
  code: string;
  message: string;
  remediation: string;
}
export interface Coverage {
  ratio: number;
  watched_seconds: number;
  gap_seconds: number;
  /** Newest 20 gaps */
  gaps: Gap[];
}
export interface Gap {
  from: string;
  to: string;
  reason: 'stream' | 'damaged' | 'stale' | 'model' | 'service';
}
export interface Cause {
  since: string;
  reason: string;
}
export interface Watch {
  watch_id: string;
  name: string;
  status: WatchStatus;
  /** Version of the configuration; the ETag is this number in quotes */
  config_version: number;
  /** UTC, with milliseconds */
  created_at: string;
  /** Time of the last change of the configuration */
  updated_at: string;
  /** Stream URL with masked password */
  stream_url: string;
  /** Keyed hash of the full URL: equal for equal URLs; null if unknown */
  stream_fingerprint: string | null;
  interval_seconds: number;
  input_mode: InputMode;
  clip_duration_seconds: number;
  enable_prefilter: boolean;
  look_back: boolean;
  follow: boolean;
  conditions: WatchCondition[];
  confirm_seconds: number;
  schedule: Schedule | null;
  budget: Budget | null;
  destinations: Destination[];
  regions: Region[] | null;
  retention_days: number;
  evidence_clip: EvidenceClip | null;
  memory_days: number;
  scene: boolean;
  labels: string[];
  state: WatchState;
}
export interface WatchCondition {
  condition_id: string;
  condition: string;
  alert_on?: AlertOn;
  checks_to_open: number;
  checks_considered: number;
  open_after_seconds?: number;
  checks_to_close: number;
  close_after_seconds: number;
  cooldown_seconds: number;
  remind_seconds: number | null;
  severity: Severity;
  sensitivity?: 'normal' | 'high';
}
export interface Schedule {
  time_zone: string;
  active: ActiveSpan[];
}
export interface Destination {
  destination_id: string;
  type: DestinationType;
  url_masked: string;
  fingerprint: string;
  notify: Notify | null;
  min_severity: Severity;
  include_frame: boolean;
}
export interface Region {
  mode: 'include' | 'exclude';
  points: number[][];
}
export interface EvidenceClip {
  before_seconds: number;
  after_seconds: number;
}
export interface WatchState {
  /** Each cause of a status with its start and reason; null: does not apply */
  causes: {
    paused: Cause | null;
    off_schedule: Cause | null;
    budget_exhausted: Cause | null;
    stream_lost: {
      since: string;
      reason: 'unreachable' | 'damaged' | 'stale' | 'access_refused' | 'not_live' | 'frozen' | 'black';
    } | null;
  };
  conditions: ConditionState[];
  /** Number of the newest check */
  last_check: number;
  last_frame_at: string | null;
  /** Duration from which a visit is sure to be seen and confirmed, by what is known of the stream */
  shortest_visit_seconds: number;
  next_check_at: string | null;
  /** Planned time of a check that the service made late; null if checks are in time */
  late_since: string | null;
  /** Time since which the camera shows another view than that of the regions; else null */
  view_changed_since: string | null;
  /** Destinations that accept nothing */
  destinations_failing: {
    destination_id: string;
    /** UTC, with milliseconds */
    since: string;
    error: string;
  }[];
  /** Newest failure of the model, null after a success */
  model_failure: Failure | null;
  /** Use of the day; null without a budget */
  budget: {
    day: string;
    model_calls: number;
    /** null if a price is unknown */
    usd: number | null;
  } | null;
}
export interface ConditionState {
  condition_id: string;
  /** unknown: no sight yet, or none for too long */
  state: 'unknown' | 'clear' | 'open';
  /** True if an open alert had no sight for too long */
  unconfirmed: boolean;
  /** True if the model responds that it cannot judge the condition */
  unjudged: boolean;
  /** Open alert */
  alert_id: string | null;
  opened_at: string | null;
  /** Time since which it holds while its alert waits for open_after_seconds; null: it does not */
  holding_since: string | null;
  /** Time of the newest verdict of the open alert that held */
  held_at: string | null;
  /** Time of the last sight, or of the begin without one */
  seen_at: string;
  /** Time of the newest opening of an alert */
  last_opened_at: string | null;
  /** Explanation of the newest verdict of the open alert */
  explanation: string | null;
  snoozed_until: string | null;
  /** Newest snoozes, oldest first; at most 5 */
  snoozes: {
    /** UTC, with milliseconds */
    from: string;
    /** UTC, with milliseconds */
    to: string;
  }[];
}
export interface CheckOnceRequest {
  /** URL of a live stream: RTSP, an HLS playlist, or a live page on YouTube or Twitch */
  stream_url: string;
  /** Sentence that is true or false of the stream */
  condition: string;
  /** True to include the checked frame in the response */
  include_frame?: boolean;
  input_mode?: InputMode;
  /** Clip length in seconds; used by clip and hybrid */
  clip_duration_seconds?: number;
}
export interface CheckOnceResponse {
  /** True if the condition holds */
  triggered: boolean;
  /** False if the model could not judge the condition, see explanation; absent otherwise */
  judged?: false;
  /** Reason, by what is visible */
  explanation: string;
  /** Duration of the request in milliseconds */
  latency_ms: number;
  /** JPEG as base64, without a data: prefix */
  frame_b64?: string;
}
export interface DeletedWatch {
  watch_id: string;
  message: string;
  /** Destinations that were notified of something that the deletion ends */
  notified?: {
    destination_id: string;
    url_masked: string;
    /** Ids of open alerts whose opening it accepted */
    open_alerts: string[];
    /** True if it accepted the report of a lost stream */
    stream_lost: boolean;
  }[];
}
export interface Delivery {
  /** Position in the log, from 1 without gaps; a repetition has the same */
  sequence: number;
  type: string;
  state: DeliveryState;
  /** Number of resends */
  resend: number;
  /** Oldest first */
  attempts: DeliveryAttempt[];
  next_attempt_at: string | null;
  error: string | null;
}
export interface DeliveryAttempt {
  /** UTC, with milliseconds */
  time: string;
  /** HTTP status; null without a response */
  status: number | null;
  latency_ms: number;
  error: string | null;
  /** 0 for the original delivery, otherwise the number of the resend */
  resend: number;
}
export interface DeliveryPage {
  job_id: string;
  /** Webhook URL with masked password; null for a job without webhook */
  webhook_url: string | null;
  /** Types of events that the webhook receives; null for all */
  webhook_events: WebhookEventType[] | null;
  /** Ordered by sequence */
  deliveries: Delivery[];
  /** Value of after for the next page */
  next_after: number;
  has_more: boolean;
}
export interface DestinationRequest {
  /** Unique in the watch; assigned if missing */
  destination_id?: string;
  type: DestinationType;
  /** Address, by type: a URL of http(s), or of mqtt(s). The masked value means unchanged. */
  url?: string;
  /** Integration key of PagerDuty Events v2 */
  routing_key?: string;
  /** Access token of ntfy, or token of a bot of Telegram */
  token?: string;
  /** Recipient of e-mail, or chat of Telegram: its id or @name */
  to?: string;
  /** Events that are delivered, besides failures; null: the default of the type */
  notify?: Notify | null;
  min_severity?: Severity;
  /** True to include the frame in events, as base64; webhook only */
  include_frame?: boolean;
}
export interface DigestConfig {
  window_minutes: number;
  capture_interval_seconds: number;
  max_windows: number | null;
  digest_duration_seconds: number;
  input_mode: 'frames';
  include_frames: boolean;
  enable_prefilter: boolean;
  /** Webhook URL with masked password */
  webhook_url?: string;
  /** Types of events that the webhook receives; absent: all */
  webhook_events?: WebhookEventType[];
  /** Labels of the job; absent without any */
  labels?: string[];
}
export interface DigestRequest {
  /** URL of a live stream: RTSP, an HLS playlist, or a live page on YouTube or Twitch */
  stream_url: string;
  /** Length of a window in minutes; each window has one summary */
  window_minutes?: number;
  webhook_url?: string | null;
  /** Types of events that webhook_url receives; default: those of PUT /webhook-defaults, else all */
  webhook_events?: WebhookEventType[] | null;
  /** Seconds between captures */
  capture_interval_seconds?: number;
  /** Number of summaries after which the job completes; null: at the end of its duration */
  max_windows?: number | null;
  /** True to include a frame grid of the samples in summaries */
  include_frames?: boolean;
  /** True to skip captures without motion */
  enable_prefilter?: boolean;
  /**
   * Up to 8 short texts that events repeat and the list of jobs filters by
   *
   * @maxItems 8
   */
  labels?: string[];
}
export interface Erasure {
  caller: string;
  /** False if the time was not enough: repeat the call */
  complete: boolean;
  /** Removed by this call, as the other numbers */
  keys: number;
  jobs: number;
  watches: number;
  /** Frames, clips and other media */
  media: number;
}
export interface ErrorEnvelope {
  error: {
    code: ErrorCode;
    /** Description of the failure */
    message: string;
    /** Next step for the caller */
    remediation: string;
  };
}
export interface ErrorEvent {
  type: 'error';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    code: ErrorCode;
    message: string;
    remediation: string;
  };
}
export interface EventPage {
  job_id: string;
  status: JobStatus;
  /** Ordered by sequence */
  events: LoggedEvent[];
  /** Value of after for the next page */
  next_after: number;
  has_more: boolean;
}
export interface JobStarted {
  type: 'job_started';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    job_type: JobType;
    status: JobStatus;
    config: JobConfig;
    /** Differences between the request and the job: limits, ignored fields, conditions that fit no check */
    notices?: string[];
    /** Event log of the job, as JSON or as event stream */
    events_url: string;
  };
}
export interface MonitorConfig {
  condition: string;
  interval_seconds: number;
  input_mode: InputMode;
  clip_duration_seconds: number;
  monitor_duration_seconds: number;
  trigger_cooldown_seconds: number;
  max_triggers: number | null;
  enable_prefilter: boolean;
  look_back?: true;
  /** Webhook URL with masked password */
  webhook_url?: string;
  /** Types of events that the webhook receives; absent: all */
  webhook_events?: WebhookEventType[];
  /** Labels of the job; absent without any */
  labels?: string[];
}
export interface Progress {
  type: 'progress';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    /** Number of the check */
    check: number;
    checks_performed: number;
    frames_skipped: number;
    triggers_fired: number;
    /** Verdict of the model; null without a verdict */
    triggered: boolean | null;
    /** False if the model could not judge the condition by this capture, see explanation; null without a verdict */
    judged?: boolean | null;
    /** True if the pre-filter skipped the capture */
    prefilter_skipped: boolean;
    /** Share of the frame that changed */
    motion: number | null;
    explanation: string;
    captured_at: string | null;
    stream: 'ok' | 'stale' | 'reconnecting';
    picture: ('ok' | 'frozen' | 'black' | 'repeated') | null;
    next_check_at: string | null;
  };
}
export interface WatchTriggered {
  type: 'watch_triggered';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    condition: string;
    triggered: true;
    explanation: string;
    prefilter_skipped: boolean;
    /** UTC, with milliseconds */
    captured_at: string;
    triggers_fired: number;
    /** Objects in the evidence that the condition names, best first; only from the object model */
    boxes?: EvidenceBox[];
    /** Version of the prompt; absent from built-in models */
    prompt_version?: string;
    /** URL of the image; requires the API key, available until the job is deleted */
    frame_url: string;
  };
}
export interface SummaryGenerated {
  type: 'summary_generated';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    /** Number of the window; starts at 1 */
    window_index: number;
    /** UTC, with milliseconds */
    window_start: string;
    /** UTC, with milliseconds */
    window_end: string;
    /** True if the job ended before the window */
    partial: boolean;
    /** Summary of the window */
    summary: string;
    frames_captured: number;
    frames_skipped: number;
    /** Intervals of the window without observation */
    gaps: Gap[];
    /** URL of the image; requires the API key, available until the job is deleted */
    frame_grid_url?: string;
  };
}
export interface JobStopped {
  type: 'job_stopped';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    status: JobStatus;
    reason: StopReason;
    checks_performed: number;
    triggers_fired: number;
    frames_skipped: number;
    /** True for max_duration_reached: start a new job to continue */
    auto_stopped: boolean;
    watch_duration_seconds: number;
  };
}
export interface Interval {
  from: number;
  to: number;
}
export interface JobDetail {
  job_id: string;
  status: JobStatus;
  /** UTC, with milliseconds */
  created_at: string;
  /** Stream URL with masked password */
  stream_url: string;
  job_type: JobType;
  config: JobConfig;
  stats: JobStats;
}
export interface JobList {
  /** Newest first */
  jobs: JobSummary[];
  /** Number of matching jobs on all pages */
  total: number;
  limit: number;
  offset: number;
}
export interface JobSummary {
  job_id: string;
  status: JobStatus;
  /** UTC, with milliseconds */
  created_at: string;
  /** Stream URL with masked password */
  stream_url: string;
  job_type: JobType;
  details: JobDetails;
  /** Next step, then the notices; only in a creation response */
  message?: string;
}
export interface Key {
  /** SHA-256 of the key; identifies the key and grants no access */
  key_id: string;
  /** First characters of the key */
  prefix: string;
  caller: string;
  scopes: Scope[];
  label: string | null;
  /** key_id of the key that created it; null if no key did, or if unknown */
  created_by: string | null;
  /** UTC, with milliseconds */
  created_at: string;
  /** Accurate to one minute */
  last_used_at: string | null;
  /** Time from which the key is rejected; null for a valid key */
  revoked_at: string | null;
}
export interface KeyLabel {
  label: string | null;
}
export interface KeyList {
  /** Oldest first */
  keys: Key[];
  /** Value of after for the next page; null on the last page */
  next_after: string | null;
}
export interface KeyRequest {
  caller?: string;
  /**
   * @minItems 1
   * @maxItems 5
   */
  scopes?: Scope[];
  label?: string | null;
}
export interface Logs {
  total_in_buffer: number;
  returned: number;
  logs: {
    /** UTC, with milliseconds */
    time: string;
    level: LogLevel;
    /** Log message; starts with [JOB:<first 8 characters of the job id>] if it concerns a job */
    message: string;
  }[];
}
export interface Metrics {
  /** Start of the count */
  started_at: string;
  /** Model calls by provider */
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
    /** Captures that reached the model */
    captured: number;
    /** Captures that the pre-filter skipped */
    skipped_prefilter: number;
  };
  /** Delay of checks by an overload of the service */
  late: {
    /** Checks whose interval the service stretched, because it was overloaded */
    checks: number;
    /** Mean time for which checks waited for the service lately */
    seconds: number;
    /** Factor of all intervals, 1 without overload */
    interval_factor: number;
    /** Time for which the event loop was blocked; 0 on AWS */
    blocked_seconds: number;
    /** RTSP streams whose captures have a connection each, because their session was not usable; 0 on AWS */
    session_fallbacks: number;
  };
  /** Watches that are not paused, at this moment */
  watches: {
    /** Watches that watch */
    active: number;
    off_schedule: number;
    budget_exhausted: number;
    stream_lost: number;
    /** Watches whose check is overdue by five minutes, or was at the last one */
    late: number;
    /** Watches whose model calls fail */
    unjudged: number;
    /** Watches with a destination that accepts nothing */
    destinations_failing: number;
  };
  /** Searches in moments, with their model calls and the list price of these; 0 if it is unknown */
  searches: {
    started: number;
    model_calls: number;
    cost_usd: number;
  };
  /** Judged pictures that a memory lacks, since they could not be stored */
  moments: {
    dropped: number;
  };
  /** Deliveries to all destinations but mail */
  webhooks: {
    sent: number;
    failed: number;
  };
  mails: {
    sent: number;
    failed: number;
  };
  /** Pictures and clips on this machine; null on AWS */
  media: {
    /** null before the first count, a minute after the start */
    bytes: number | null;
    /** WATCHPOST_MEDIA_MB; null without a maximum */
    max_bytes: number | null;
    /** Pictures of alerts that were removed before the end of their retention */
    evidence_removed: number;
  } | null;
}
export interface MomentList {
  /** Newest first */
  moments: Moment[];
  /** Value of after for the next page; null on the last. A page with filters can be short */
  next_after: string | null;
  /**
   * Division of the span by what was seen. The four classes are all of the time that the watches were to watch. null on pages with after
   */
  watched: {
    /** UTC, with milliseconds */
    from: string;
    /** UTC, with milliseconds */
    to: string;
    /** The model judged what moved */
    judged_seconds: number;
    /** Watched, and nothing moved */
    quiet_seconds: number;
    /** Between two pictures: the stream was there, and nobody looked */
    between_seconds: number;
    /** In gaps */
    not_seen_seconds: number;
    /** Times that nobody saw, in order; at most the longest 500 */
    gaps: {
      watch_id: string;
      /** UTC, with milliseconds */
      from: string;
      /** UTC, with milliseconds */
      to: string;
      reason:
        | 'stream'
        | 'damaged'
        | 'stale'
        | 'model'
        | 'service'
        | 'budget'
        | 'frozen'
        | 'black'
        | 'overload';
    }[];
    /** Share of the active time with sight; null without active time */
    coverage: number | null;
    /** Visits of this duration and more are sure to be seen */
    sure_from_seconds: number | null;
  } | null;
  /** Time from which on no picture had to make room; null if none had to */
  pictures_kept_from: string | null;
}
export interface MomentReviewRequest {
  /** Condition of the watch */
  condition_id: string;
  /** True if it holds in the picture */
  holds: boolean;
}
export interface MomentSearchRequest {
  /** Description of the pictures to find, in plain words: "a white delivery van" */
  query: string;
  /**
   * Default: all your watches
   *
   * @minItems 1
   * @maxItems 100
   */
  watch_ids?: string[];
  /** Default: all that is remembered */
  from?: string;
  /** Default: now */
  to?: string;
  /** Maximum results of one response */
  limit?: number;
  /** Maximum model calls of the search, with those of earlier responses; 0 only estimates */
  max_calls?: number;
  /** True to check a picture of every visit, whatever its words: see `thorough` of a response first */
  thorough?: boolean;
  /** next_cursor of the response before, with an unchanged body */
  cursor?: string;
}
export interface MomentSearchResult {
  /** The result in words, and the gaps of the span */
  sentence: string;
  /** A moment of each visit, best first; newest first if thorough */
  results: {
    moment: Moment;
    watch_name: string;
    /** First moment of the visit */
    from: string;
    /** Last moment of the visit */
    to: string;
    /** True if nobody looked before it */
    open_begin: boolean;
    /** True if nobody looked after it */
    open_end: boolean;
    /** True if the picture shows it; null if only words do */
    matched: boolean | null;
  }[];
  /** Send it as cursor to continue; null at the end */
  next_cursor: string | null;
  /** True if max_calls is used up: raise it to continue */
  limit_reached: boolean;
  /** UTC, with milliseconds */
  from: string;
  /** UTC, with milliseconds */
  to: string;
  /** Words that the model has added */
  words: string[];
  /** Moments of the span */
  moments: number;
  matched_in_words: number;
  /** Pictures that the model has checked */
  looked_at: number;
  /** Pictures of which the model cannot tell */
  not_judged: number;
  without_picture: number;
  model_calls: number;
  /** By list price; null: unknown */
  cost_usd: number | null;
  /** Estimate of a thorough search */
  thorough: {
    visits: number;
    /** False if the visits are extrapolated */
    exact: boolean;
    model_calls: number;
    /** By list price; null: unknown */
    cost_usd: number | null;
  };
  /** Visits of this duration and more are sure to be seen */
  sure_from_seconds: number | null;
  /** Times that nobody saw; at most the 500 longest */
  not_seen: {
    watch_id: string;
    /** UTC, with milliseconds */
    from: string;
    /** UTC, with milliseconds */
    to: string;
    reason:
      | 'stream'
      | 'damaged'
      | 'stale'
      | 'model'
      | 'service'
      | 'budget'
      | 'frozen'
      | 'black'
      | 'overload'
      | 'paused';
  }[];
}
export interface MonitorRequest {
  /** URL of a live stream: RTSP, an HLS playlist, or a live page on YouTube or Twitch */
  stream_url: string;
  /** Sentence that is true or false of the stream */
  condition: string;
  webhook_url?: string | null;
  /** Types of events that webhook_url receives; default: those of PUT /webhook-defaults, else all */
  webhook_events?: WebhookEventType[] | null;
  /** Seconds between checks */
  interval_seconds?: number;
  input_mode?: InputMode;
  /** Clip length in seconds; used by clip and hybrid */
  clip_duration_seconds?: number;
  /** Duration in seconds; limited by the server, see config for the resulting value */
  monitor_duration_seconds?: number;
  /** Minimum seconds between alerts */
  trigger_cooldown_seconds?: number;
  /** Number of alerts after which the job completes; null: at the end of its duration */
  max_triggers?: number | null;
  /** True to skip captures without motion */
  enable_prefilter?: boolean;
  /** True to scan all of the stream since the last check, and to judge the moments that differ */
  look_back?: boolean;
  /**
   * Up to 8 short texts that events repeat and the list of jobs filters by
   *
   * @maxItems 8
   */
  labels?: string[];
}
export interface RegionRequest {
  mode?: 'include' | 'exclude';
  /**
   * Corners [x, y], 0 to 1 from the top left
   *
   * @minItems 3
   * @maxItems 32
   */
  points: number[][];
}
export interface Resend {
  job_id: string;
  /** Position in the log, from 1 without gaps; a repetition has the same */
  sequence: number;
  type: string;
  resend: number;
  message: string;
}
export interface ReviewRequest {
  /** True if the alert was right */
  correct: boolean;
  note?: string;
}
export interface Service {
  /** Version of the software; the version of the interface is in the OpenAPI document */
  version: string;
  limits: {
    /** Maximum duration of a monitor, and of a digest without max_windows */
    max_job_seconds: number;
    /** Time for which a finished job stays readable */
    retention_seconds: number;
    /** Maximum active jobs of a caller */
    jobs_per_caller: number;
  };
  /** Types of destinations; email needs an SMTP server of the operator, mqtt a service of one machine */
  destination_types: DestinationType[];
  /**
   * Whom e-mail may go to: domains, and addresses with masked names. Settings: WATCHPOST_SMTP_URL, WATCHPOST_EMAIL_FROM, WATCHPOST_EMAIL_RECIPIENTS; on AWS smtpSecretArn, emailFrom, emailRecipients
   */
  email_recipients: string[];
  /** True if GET /cameras asks the cameras of the network */
  discovers_cameras: boolean;
  model: {
    provider: string;
    name: string;
    /** True if input_mode can be clip or hybrid */
    supports_video: boolean;
    /** Conditions that this model judges well */
    condition_examples: string[];
  };
}
export interface SignInCode {
  /** Signs one browser in with the key; the console takes it at /console#/sign-in/CODE */
  code: string;
  /** UTC, with milliseconds */
  expires_at: string;
}
export interface SnoozeRequest {
  /** 0 ends the snooze */
  seconds: number;
  /** Absent: all conditions */
  condition_id?: string;
}
export interface StreamValidation {
  is_live: boolean;
  platform: 'youtube' | 'twitch' | 'rtsp' | 'hls' | 'jpeg' | 'mjpeg' | 'mpegts';
  stream_id?: string;
  title?: string;
  channel?: string;
  thumbnail_url?: string;
  viewer_count?: number;
  /** Playback URL, without credentials */
  parsed_url?: string;
  /** Frame of the live stream; absent unless include_frame is true, or if the capture failed */
  frame_b64?: string;
  /**
   * Time between new pictures of a stream with rare key frames, in seconds, as far as the capture shows it; absent below 10 s, if unknown, and without a frame
   */
  picture_seconds?: number;
  /** Reason why the stream is not live, or gives no frame, with a remedy */
  error_hint?: string;
}
export interface WatchTriggeredWithPicture {
  type: 'watch_triggered';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    condition: string;
    triggered: true;
    explanation: string;
    prefilter_skipped: boolean;
    /** UTC, with milliseconds */
    captured_at: string;
    triggers_fired: number;
    /** Objects in the evidence that the condition names, best first; only from the object model */
    boxes?: EvidenceBox[];
    /** Version of the prompt; absent from built-in models */
    prompt_version?: string;
    /** Evidence as base64 JPEG; null if it has expired */
    frame_b64: string | null;
  };
}
export interface SummaryGeneratedWithPicture {
  type: 'summary_generated';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Stream URL with masked password */
  source_url: string;
  data: {
    job_id: string;
    /** Position in the log, from 1 without gaps; a repetition has the same */
    sequence: number;
    /** Labels of the job; absent without any */
    labels?: string[];
    /** Number of the window; starts at 1 */
    window_index: number;
    /** UTC, with milliseconds */
    window_start: string;
    /** UTC, with milliseconds */
    window_end: string;
    /** True if the job ended before the window */
    partial: boolean;
    /** Summary of the window */
    summary: string;
    frames_captured: number;
    frames_skipped: number;
    /** Intervals of the window without observation */
    gaps: Gap[];
    /** Frame grid of the samples as base64 JPEG; absent unless include_frames is true, null if it has expired */
    frame_grid_b64?: string | null;
  };
}
export interface TestEvent {
  type: 'test';
  /** UTC, with milliseconds */
  timestamp: string;
  /** Base URL of the service */
  source_url: string;
  data: {
    message: string;
  };
}
export interface Usage {
  from: string;
  to: string;
  /** Ordered by name */
  callers: {
    caller: string;
    model_calls: number;
    /** Model calls without a usable result; they cost the tokens that the model stated, else nothing */
    model_errors: number;
    input_tokens: number;
    output_tokens: number;
    /** List price of the tokens, in US dollars; null if the price of the model is unknown */
    cost_usd: number | null;
    /** Days with model calls, oldest first */
    days: {
      day: string;
      model_calls: number;
      /** Model calls without a usable result; they cost the tokens that the model stated, else nothing */
      model_errors: number;
      input_tokens: number;
      output_tokens: number;
      /** List price of the tokens, in US dollars; null if the price of the model is unknown */
      cost_usd: number | null;
    }[];
  }[];
  /** Value of after for the next page; null on the last page */
  next_after: string | null;
}
export interface ValidateStreamRequest {
  /** URL of a live stream: RTSP, an HLS playlist, or a live page on YouTube or Twitch */
  stream_url: string;
  /** True to include a frame of a live stream in the response */
  include_frame?: boolean;
}
export interface ValidationErrors {
  detail: {
    /** Location: body, query, path or header, then names and indexes */
    loc: (string | number)[];
    msg: string;
    /** Error type, such as missing, invalid_type or too_big */
    type: string;
    /** Invalid value, shortened and without secrets */
    input?: unknown;
    /** Next step as `remediation`, if there is one */
    ctx?: {
      [k: string]: unknown;
    };
  }[];
}
export interface WatchCounters {
  /** Captures that the model judged */
  checks: number;
  /** One per condition and check */
  verdicts: number;
  not_judged: number;
  model_calls: number;
  model_failures: number;
  /** Captures that the pre-filter skipped */
  skipped: number;
  failed_captures: number;
  alerts_opened: number;
  alerts_closed: number;
  reminders: number;
  input_tokens: number;
  output_tokens: number;
  /** Cost by the list price of the model; null if its price is not known */
  usd: number | null;
  /** Share of the active time with sight; null without active time */
  coverage: number | null;
  /** The model judged what moved */
  judged_seconds: number;
  /** Scanned, nothing moved */
  quiet_seconds: number;
  /** Between two pictures */
  between_seconds: number;
  /** In gaps */
  not_seen_seconds: number;
  /** The first two, not judged for a condition */
  unjudged_seconds: {
    [k: string]: number;
  };
  /** Checks, by condition, that did not hold but may have seen it */
  unsure_sightings: {
    [k: string]: number;
  };
}
export interface WatchDeliveryPage {
  /** Value of after for the next page */
  next_after: number;
  has_more: boolean;
  watch_id: string;
  /** Ordered by sequence and destination; a page ends with all deliveries of an event */
  deliveries: (Delivery & {
    /** Id of the destination */
    destination_id: string;
  })[];
}
export interface WatchEventPage {
  watch_id: string;
  /** Ordered by sequence; progress is kept a day */
  events: WatchEvent[];
  /** Value of after for the next page */
  next_after: number;
  has_more: boolean;
}
export interface WatchList {
  /** Oldest first */
  watches: Watch[];
  /** Number of matching watches on all pages */
  total: number;
  limit: number;
  offset: number;
}
export interface WatchPatch {
  /** Name for people */
  name?: string;
  /** URL of a live stream: RTSP, an HLS playlist, or a live page on YouTube or Twitch */
  stream_url?: string;
  interval_seconds?: number | null;
  input_mode?: InputMode | null;
  clip_duration_seconds?: number | null;
  enable_prefilter?: boolean | null;
  look_back?: boolean | null;
  follow?: boolean | null;
  /**
   * @minItems 1
   * @maxItems 8
   */
  conditions?: ConditionRequest[];
  confirm_seconds?: number | null;
  schedule?: {
    /** IANA time zone */
    time_zone?: string;
    /**
     * Spans of local time; others are off schedule
     *
     * @minItems 1
     * @maxItems 14
     */
    active?: ActiveSpanRequest[];
  } | null;
  budget?: {
    model_calls_per_day?: number | null;
    usd_per_day?: number | null;
  } | null;
  destinations?: DestinationRequest[] | null;
  regions?: RegionRequest[] | null;
  retention_days?: number | null;
  /** Film around the opening of each alert; null: none. Absent: the default of the service */
  evidence_clip?: {
    /** Seconds before the opening */
    before_seconds?: number;
    /** Seconds after it */
    after_seconds?: number;
  } | null;
  /** Days for which each judged picture is kept, to be listed and searched; 0: none, null: the default of the service */
  memory_days?: number | null;
  scene?: boolean | null;
  labels?: string[] | null;
}
export interface WatchPrecision {
  condition_id: string;
  reviewed: number;
  correct: number;
  precision: number | null;
  /** 95 % confidence interval of the precision (Wilson) */
  interval: Interval | null;
  /** Moments that were reviewed as missed */
  missed: number;
  /** Share of right alerts in those and what was missed; null if no miss is known */
  recall: number | null;
  /** 95 % confidence interval of the recall (Wilson) */
  recall_interval: Interval | null;
}
export interface WatchPreview {
  verdicts: {
    condition_id: string;
    condition: string;
    triggered: boolean;
    /** False if the model could not judge the condition */
    judged?: false;
    explanation: string;
    /** Doubts about the condition, each with a remedy; empty without doubts */
    findings: Finding[];
    /** Objects that the condition names, best first; only from the object model */
    boxes?: EvidenceBox[];
    /** Time in the clip of the frame that `boxes` are of; absent: they are of `frame_b64` */
    shown_at_seconds?: number;
  }[];
  /** UTC, with milliseconds */
  captured_at: string;
  latency_ms: number;
  /** JPEG as base64, without a data: prefix */
  frame_b64: string;
}
export interface WatchRequest {
  /** Name for people */
  name: string;
  /** URL of a live stream: RTSP, an HLS playlist, or a live page on YouTube or Twitch */
  stream_url: string;
  /** Seconds between checks */
  interval_seconds?: number;
  input_mode?: InputMode;
  /** Clip length in seconds; used by clip and hybrid */
  clip_duration_seconds?: number;
  /** True to skip captures without motion */
  enable_prefilter?: boolean;
  /** True to scan all of the stream since the last check, and to judge the moments that differ */
  look_back?: boolean;
  /**
   * True to follow an HLS stream between checks, with the bandwidth of a player, so that motion causes a check; one machine only
   */
  follow?: boolean;
  /**
   * @minItems 1
   * @maxItems 8
   */
  conditions: ConditionRequest[];
  /** Delay of a confirming check in seconds; at most interval_seconds */
  confirm_seconds?: number;
  /** null: always active */
  schedule?: {
    /** IANA time zone */
    time_zone: string;
    /**
     * Spans of local time; others are off schedule
     *
     * @minItems 1
     * @maxItems 14
     */
    active: ActiveSpanRequest[];
  } | null;
  /** null: no limit */
  budget?: {
    model_calls_per_day?: number | null;
    /** US dollars by the list price of the model */
    usd_per_day?: number | null;
  } | null;
  /**
   * @minItems 0
   * @maxItems 5
   */
  destinations?: DestinationRequest[];
  /** null: the whole frame */
  regions?: RegionRequest[] | null;
  /** Days for which alerts and evidence are kept */
  retention_days?: number;
  /** Film around the opening of each alert; null: none. Absent: the default of the service */
  evidence_clip?: {
    /** Seconds before the opening */
    before_seconds?: number;
    /** Seconds after it */
    after_seconds?: number;
  } | null;
  /** Days for which each judged picture is kept, to be listed and searched; 0: none, null: the default of the service */
  memory_days?: number | null;
  /** True to have each kept picture described, whatever the conditions */
  scene?: boolean;
  /**
   * Echoed in events; a filter of lists
   *
   * @minItems 0
   * @maxItems 8
   */
  labels?: string[];
}
export interface WatchResend {
  /** Position in the log, from 1 without gaps; a repetition has the same */
  sequence: number;
  type: string;
  resend: number;
  message: string;
  watch_id: string;
  /** Id of the destination */
  destination_id: string;
}
export interface WatchStats {
  watch_id: string;
  /** UTC, with milliseconds */
  from: string;
  /** UTC, with milliseconds */
  to: string;
  total: WatchCounters;
  days: (WatchCounters & {
    /** Date (UTC) */
    day: string;
  })[];
  /** Hours (UTC) with checks; at most the newest 168 */
  hours: (WatchCounters & {
    /** UTC, with milliseconds */
    hour: string;
    gaps: {
      /** UTC, with milliseconds */
      from: string;
      /** UTC, with milliseconds */
      to: string;
      reason:
        | 'stream'
        | 'damaged'
        | 'stale'
        | 'model'
        | 'service'
        | 'budget'
        | 'frozen'
        | 'black'
        | 'overload';
    }[];
    /** With spans=true; active time of none is between pictures */
    spans?: {
      /** UTC, with milliseconds */
      from: string;
      /** UTC, with milliseconds */
      to: string;
      class: 'judged' | 'quiet' | 'between' | 'not_seen';
    }[];
  })[];
  /** Reviewed alerts by condition */
  precision: WatchPrecision[];
  /** Reviewed alerts by condition and week */
  weeks: (WatchPrecision & {
    /** Monday (UTC) */
    week: string;
  })[];
}
export interface WatchTest {
  destinations: {
    /** HTTP status of the receiver; null without a response */
    status: number | null;
    latency_ms: number;
    /** Reason of the failure; null if the receiver returned 2xx */
    error: string | null;
    destination_id: string;
    type: DestinationType;
  }[];
}
export interface WebhookDefaults {
  /** Types of events that the webhook receives; null for all */
  webhook_events: WebhookEventType[] | null;
}
export interface WebhookDefaultsRequest {
  /** Filter of jobs without webhook_events; null: all types */
  webhook_events?: WebhookEventType[] | null;
}
export interface WebhookSecret {
  /** Signing secret for receivers, whsec_… */
  secret: string;
  version: number;
  /** Time until which events are also signed with an earlier secret; null without one */
  previous_valid_until: string | null;
  /**
   * Key of the fingerprints of addresses: the first 16 digits of the SHA-256 of key, newline and address. A rotation keeps it
   */
  fingerprint_key: string;
}
export interface WebhookTest {
  /** HTTP status of the receiver; null without a response */
  status: number | null;
  latency_ms: number;
  /** Reason of the failure; null if the receiver returned 2xx */
  error: string | null;
}
export interface WebhookTestRequest {
  /** URL that receives events by HTTP POST */
  webhook_url: string;
}
