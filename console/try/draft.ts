import type { DigestRequest, JobDetail, InputMode, CheckRequest, MonitorRequest } from '../api/types.ts';
import { emptyWatchDraft, newCondition, newDestination } from '../watches/watch-draft.ts';
import type { DestinationDraft, WatchDraft } from '../watches/watch-draft.ts';

/** Form state of the page. Each of the three requests is created from it. `null` is an empty number field. */
export type Draft = {
  streamUrl: string;
  condition: string;
  mode: InputMode;
  clipSeconds: number | null;
  intervalSeconds: number | null;
  durationSeconds: number | null;
  cooldownSeconds: number | null;
  maxTriggers: number | null;
  windowMinutes: number | null;
  captureSeconds: number | null;
  maxWindows: number | null;
  includeFrames: boolean;
  prefilter: boolean;
  /** True if a monitor scans the stream between its captures. A watch always does. */
  lookBack: boolean;
  webhookUrl: string;
  /** True if the webhook does not receive start and end of the job. */
  alertsOnly: boolean;
};

/** Kind of request that the page creates: `look` is a single check. */
export type Purpose = 'look' | 'monitor' | 'digest';

/** Initial state of the form. */
export const emptyDraft: Draft = {
  streamUrl: '',
  condition: '',
  mode: 'frames',
  clipSeconds: 3,
  intervalSeconds: 10,
  durationSeconds: 600,
  cooldownSeconds: 30,
  maxTriggers: null,
  windowMinutes: 5,
  captureSeconds: 30,
  maxWindows: 2,
  includeFrames: true,
  prefilter: true,
  lookBack: false,
  webhookUrl: '',
  alertsOnly: false,
};

/** Creates a form with the configuration of a job. Passwords of its URLs are masked, so they must be entered again. */
export function toDraft({ stream_url: streamUrl, config }: Pick<JobDetail, 'stream_url' | 'config'>): Draft {
  const shared = {
    ...emptyDraft,
    streamUrl: ifComplete(streamUrl),
    webhookUrl: ifComplete(config.webhook_url ?? ''),
    prefilter: config.enable_prefilter,
  };
  if (!('condition' in config))
    return {
      ...shared,
      windowMinutes: config.window_minutes,
      captureSeconds: config.capture_interval_seconds,
      maxWindows: config.max_windows,
      includeFrames: config.include_frames,
    };
  return {
    ...shared,
    condition: config.condition,
    mode: config.input_mode,
    clipSeconds: config.clip_duration_seconds,
    intervalSeconds: config.interval_seconds,
    durationSeconds: config.monitor_duration_seconds,
    cooldownSeconds: config.trigger_cooldown_seconds,
    maxTriggers: config.max_triggers,
    lookBack: config.look_back ?? false,
  };
}

export function checkRequest(draft: Draft): CheckRequest {
  return {
    stream_url: draft.streamUrl.trim(),
    condition: draft.condition.trim(),
    include_frame: true,
    ...modeFields(draft),
  };
}

/** Creates the request of a check of a walk test: frames only, because a clip takes longer than a second. */
export function walkRequest(draft: Draft): CheckRequest {
  return checkRequest({ ...draft, mode: 'frames' });
}

export function monitorRequest(draft: Draft): MonitorRequest {
  return {
    stream_url: draft.streamUrl.trim(),
    condition: draft.condition.trim(),
    ...modeFields(draft),
    interval_seconds: draft.intervalSeconds ?? 10,
    monitor_duration_seconds: draft.durationSeconds ?? 600,
    trigger_cooldown_seconds: draft.cooldownSeconds ?? 0,
    max_triggers: draft.maxTriggers,
    enable_prefilter: draft.prefilter,
    ...(draft.lookBack && { look_back: true }),
    ...webhookField(draft),
  };
}

export function digestRequest(draft: Draft): DigestRequest {
  return {
    stream_url: draft.streamUrl.trim(),
    window_minutes: draft.windowMinutes ?? 10,
    capture_interval_seconds: draft.captureSeconds ?? 60,
    max_windows: draft.maxWindows,
    include_frames: draft.includeFrames,
    enable_prefilter: draft.prefilter,
    ...webhookField(draft),
  };
}

/** Creates the form of a watch, without duration and maximum of alerts. */
export function toNewWatch(draft: Draft): WatchDraft {
  const { streamUrl, mode, clipSeconds, intervalSeconds, prefilter } = draft;
  return {
    ...emptyWatchDraft,
    streamUrl,
    mode,
    clipSeconds,
    intervalSeconds,
    prefilter,
    conditions: [{ ...newCondition, condition: draft.condition }],
    destinations: toDestinations(draft),
  };
}

function toDestinations({ webhookUrl: address, alertsOnly }: Draft): DestinationDraft[] {
  if (address.trim() === '') return [];
  const webhook = { ...newDestination('webhook'), address };
  return [alertsOnly ? { ...webhook, notify: 'openings_and_closings' } : webhook];
}

function modeFields({ mode, clipSeconds }: Draft) {
  return {
    input_mode: mode,
    ...(mode === 'frames' ? {} : { clip_duration_seconds: clipSeconds ?? 3 }),
  };
}

const alertEvents = ['watch_triggered', 'summary_generated', 'error'] as const;

function webhookField({
  webhookUrl,
  alertsOnly,
}: Draft): Pick<MonitorRequest, 'webhook_url' | 'webhook_events'> {
  if (webhookUrl.trim() === '') return {};
  return { webhook_url: webhookUrl.trim(), ...(alertsOnly && { webhook_events: [...alertEvents] }) };
}

/** Returns a URL, or an empty one if a part of it is masked: its secret has to be entered again. */
function ifComplete(url: string): string {
  return url.includes('***') ? '' : url;
}
