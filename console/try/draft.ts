import type { DigestRequest, JobDetail, InputMode, CheckRequest, MonitorRequest } from '../api/types.ts';
import {
  conditionRequestDefaults,
  digestRequestDefaults,
  monitorRequestDefaults,
} from '../../client/openapi-types.ts';
import { emptyWatchDraft, newDestination } from '../watches/watch-draft.ts';
import type { DestinationDraft, Emptied, WatchDraft } from '../watches/watch-draft.ts';
import type { Session } from '../session/session.ts';

/** Form state of the page, from which each of the three requests is created. */
export type Draft = Emptied<typeof monitorRequestDefaults & typeof digestRequestDefaults> & {
  input_mode: InputMode;
  webhook_url: string;
  /** True if the webhook does not receive start and end of the job. */
  alertsOnly: boolean;
};

/** Kind of request that the page creates: `look` is a single check. */
export type Purpose = 'look' | 'monitor' | 'digest';

/** Initial state of the form: what shows the most in a few minutes. */
export const emptyDraft: Draft = {
  ...monitorRequestDefaults,
  ...digestRequestDefaults,
  input_mode: 'frames',
  trigger_cooldown_seconds: 30,
  max_triggers: null,
  window_minutes: 5,
  capture_interval_seconds: 30,
  max_windows: 2,
  include_frames: true,
  webhook_url: '',
  alertsOnly: false,
};

/** Creates a form with the configuration of a job. Passwords of its URLs are masked, so they must be entered again. */
export function toDraft({ stream_url: url, config }: Pick<JobDetail, 'stream_url' | 'config'>): Draft {
  const fields = Object.entries({ ...config }).filter(
    ([name, value]) => name in emptyDraft && value !== undefined,
  );
  return {
    ...emptyDraft,
    ...Object.fromEntries(fields),
    stream_url: ifComplete(url),
    webhook_url: ifComplete(config.webhook_url ?? ''),
  };
}

export function checkRequest(draft: Draft): CheckRequest {
  return {
    stream_url: draft.stream_url.trim(),
    condition: draft.condition.trim(),
    include_frame: true,
    ...modeFields(draft),
  };
}

/** Creates the request of a check of a walk test: frames only, because a clip takes longer than a second. */
export function walkRequest(draft: Draft): CheckRequest {
  return checkRequest({ ...draft, input_mode: 'frames' });
}

export function monitorRequest(draft: Draft): MonitorRequest {
  return {
    stream_url: draft.stream_url.trim(),
    condition: draft.condition.trim(),
    ...modeFields(draft),
    interval_seconds: draft.interval_seconds ?? monitorRequestDefaults.interval_seconds,
    monitor_duration_seconds:
      draft.monitor_duration_seconds ?? monitorRequestDefaults.monitor_duration_seconds,
    trigger_cooldown_seconds:
      draft.trigger_cooldown_seconds ?? monitorRequestDefaults.trigger_cooldown_seconds,
    max_triggers: draft.max_triggers,
    enable_prefilter: draft.enable_prefilter,
    ...(draft.look_back && { look_back: true }),
    ...webhookField(draft),
  };
}

export function digestRequest(draft: Draft): DigestRequest {
  return {
    stream_url: draft.stream_url.trim(),
    window_minutes: draft.window_minutes ?? digestRequestDefaults.window_minutes,
    capture_interval_seconds:
      draft.capture_interval_seconds ?? digestRequestDefaults.capture_interval_seconds,
    max_windows: draft.max_windows,
    include_frames: draft.include_frames,
    enable_prefilter: draft.enable_prefilter,
    ...webhookField(draft),
  };
}

/** Creates the form of a watch, without duration and maximum of alerts. */
export function toNewWatch(draft: Draft): WatchDraft {
  const { stream_url, input_mode, clip_duration_seconds, interval_seconds, enable_prefilter } = draft;
  return {
    ...emptyWatchDraft,
    stream_url,
    input_mode,
    clip_duration_seconds,
    interval_seconds,
    enable_prefilter,
    conditions: [{ ...conditionRequestDefaults, condition: draft.condition }],
    destinations: toDestinations(draft),
  };
}

function toDestinations({ webhook_url: address, alertsOnly }: Draft): DestinationDraft[] {
  if (address.trim() === '') return [];
  const webhook = { ...newDestination('webhook'), address };
  return [alertsOnly ? { ...webhook, notify: 'openings_and_closings' } : webhook];
}

/** Returns what a check captures. An emptied length is absent: the service has a default. */
function modeFields({ input_mode, clip_duration_seconds: seconds }: Draft) {
  return {
    input_mode,
    ...(input_mode !== 'frames' && seconds !== null && { clip_duration_seconds: seconds }),
  };
}

const alertEvents = ['watch_triggered', 'summary_generated', 'error'] as const;

function webhookField(draft: Draft): Pick<MonitorRequest, 'webhook_url' | 'webhook_events'> {
  const url = draft.webhook_url.trim();
  return url === ''
    ? {}
    : { webhook_url: url, ...(draft.alertsOnly && { webhook_events: [...alertEvents] }) };
}

/** Returns a URL, or an empty one if a part of it is masked: its secret has to be entered again. */
function ifComplete(url: string): string {
  return url.includes('***') ? '' : url;
}

/** Drafts by session: kept across pages, dropped at sign-out, because a stream URL may contain a password. */
export const drafts = new WeakMap<Session, Draft>();

/** Returns a stream URL with user name and password, percent-encoded. Without a user name the URL stays unchanged. */
export function withLogin(url: string, username: string, password: string): string {
  if (username === '') return url;
  const login = [username, password].map(encodeURIComponent).join(':');
  return url.replace('://', () => `://${login}@`);
}
